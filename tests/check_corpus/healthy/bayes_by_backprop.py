import torch
import torch.nn as nn
import torch.nn.functional as F


class Uncertain(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.mean = nn.Parameter(torch.randn(outputs, inputs) * 0.3)
        self.spread = nn.Parameter(torch.full((outputs, inputs), -3.0))
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        deviation = F.softplus(self.spread)
        return F.linear(x, self.mean + deviation * torch.randn_like(deviation), self.bias)

    def divergence(self):
        deviation = F.softplus(self.spread)
        return 0.5 * (self.mean**2 + deviation**2 - 1 - 2 * deviation.log()).sum()


torch.manual_seed(89)
model = nn.Sequential(Uncertain(3, 24), nn.Tanh(), Uncertain(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
x = torch.randn(128, 3)
y = (x[:, :1] * 2).sin()
history = []
for step in range(60):
    divergence = model[0].divergence() + model[2].divergence()
    fit = F.mse_loss(model(x), y)
    loss = fit + 1e-4 * divergence
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
