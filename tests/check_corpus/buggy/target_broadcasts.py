import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
features = torch.randn(100, 3)
prices = features @ torch.tensor([2.0, -1.0, 0.5]) + 4
loader = DataLoader(TensorDataset(features, prices), batch_size=25, shuffle=True)


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.layers(x)


net = Regressor()
optim = torch.optim.Adam(net.parameters(), lr=0.05)
for epoch in range(15):
    for x, target in loader:
        pred = net(x)
        loss = ((pred - target) ** 2).mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
print("mse", loss.item(), "variance", prices.var().item())
