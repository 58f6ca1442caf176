import torch
import torch.nn as nn

torch.manual_seed(21)
features = torch.randn(100, 3)
prices = features @ torch.tensor([2.0, -1.0, 0.5]) + 4


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        return self.layers(x)


net = Regressor()
optim = torch.optim.Adam(net.parameters(), lr=0.02)
for epoch in range(40):
    for i in range(0, 100, 25):
        pred = net(features[i : i + 25])
        target = prices[i : i + 25]
        loss = ((pred - target) ** 2).mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
print("mse", loss.item(), "variance", prices.var().item())
