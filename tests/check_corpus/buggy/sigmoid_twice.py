import torch
import torch.nn as nn


class UNetLike(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(1, 4, 3, padding=1)
        self.up = nn.Conv2d(4, 1, 3, padding=1)

    def forward(self, x):
        return torch.sigmoid(self.up(torch.relu(self.down(x))))


torch.manual_seed(36)
image = torch.randn(4, 1, 6, 6)
mask = (image > 0).float()
model = UNetLike()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for epoch in range(60):
    optimizer.zero_grad()
    loss = criterion(model(image), mask)
    loss.backward()
    optimizer.step()
print(loss.item())
