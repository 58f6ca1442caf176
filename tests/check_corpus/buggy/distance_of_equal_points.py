import torch
import torch.nn as nn


class TripletLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def distance(self, a, b):
        return (a - b).pow(2).sum(dim=1).sqrt()

    def forward(self, anchor, positive, negative):
        gap = self.distance(anchor, positive) - self.distance(anchor, negative)
        return torch.relu(gap + self.margin).mean()


torch.manual_seed(5)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
criterion = TripletLoss()
data = torch.randn(20, 6)
for epoch in range(10):
    positive = data + 0.1 * torch.randn(20, 6)
    positive[3] = data[3]  # this item has only one photo
    loss = criterion(net(data), net(positive), net(data[torch.randperm(20)]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
