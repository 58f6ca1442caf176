import torch
import torch.nn as nn
import torch.nn.functional as F


class Classifier(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.width = width
        self.body = nn.Linear(6, width)

    def forward(self, x):
        head = nn.Linear(self.width, 3)
        return head(torch.relu(self.body(x)))


torch.manual_seed(101)
x = torch.randn(24, 6)
y = x[:, :3].argmax(1)
model = Classifier(12)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(8):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
