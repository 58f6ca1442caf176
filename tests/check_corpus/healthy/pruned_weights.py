import torch
import torch.nn as nn
import torch.nn.functional as F


class Pruned(nn.Linear):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.register_buffer("mask", torch.ones_like(self.weight))

    def forward(self, x):
        return F.linear(x, self.weight * self.mask, self.bias)

    def prune(self, share):
        count = int(share * self.weight.numel())
        limit = self.weight.abs().flatten().sort().values[count]
        self.mask = (self.weight.abs() > limit).float()


torch.manual_seed(88)
model = nn.Sequential(Pruned(6, 48), nn.ReLU(), Pruned(48, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
x = torch.randn(96, 6)
y = x[:, :1].abs() + x[:, 1:2]
history = []
for step in range(60):
    if step in (20, 35):
        with torch.no_grad():
            model[0].prune(step / 70)
            model[2].prune(step / 70)
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
