import torch
import torch.nn as nn
import torch.optim as optim


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(12, 24), nn.ReLU())
        self.fc = nn.Linear(24, 100)

    def forward(self, x):
        return self.fc(self.features(x))


torch.manual_seed(28)
model = Backbone()
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
model.fc = nn.Linear(24, 2)  # our two classes

x = torch.randn(50, 12)
y = (x[:, 3] > 0).long()
for epoch in range(15):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
print("loss", loss.item())
