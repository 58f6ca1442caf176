import random

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Energy(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, 48), nn.SiLU(), nn.Linear(48, 48), nn.SiLU(), nn.Linear(48, 1)
        )

    def forward(self, x):
        return self.net(x).squeeze(1) + 0.05 * x.square().sum(dim=1)


class Buffer:
    def __init__(self, size=1000):
        self.points = 2 * torch.rand(size, 2) - 1

    def take(self, count):
        self.chosen = torch.tensor(random.sample(range(len(self.points)), count))
        start = self.points[self.chosen].clone()
        fresh = torch.rand(count) < 0.05
        start[fresh] = 4 * torch.rand(int(fresh.sum()), 2) - 2
        return start

    def put(self, points):
        self.points[self.chosen] = points


def langevin(energy, x, steps=15, step_size=0.05):
    energy.requires_grad_(False)
    for _ in range(steps):
        x = x.detach().requires_grad_()
        (slope,) = torch.autograd.grad(energy(x).sum(), x)
        x = x - step_size * slope + (0.4 * step_size) ** 0.5 * torch.randn_like(x)
    energy.requires_grad_(True)
    return x.detach()


random.seed(7)
torch.manual_seed(7)
corners = torch.tensor([[1.0, 1.0], [-1.0, -1.0]])
data = corners[torch.randint(2, (960,))] + 0.2 * torch.randn(960, 2)
loader = DataLoader(TensorDataset(data), batch_size=64, shuffle=True)
energy, buffer = Energy(), Buffer()
optimizer = torch.optim.Adam(energy.parameters(), lr=3e-3, betas=(0.0, 0.9))
for epoch in range(6):
    for (real,) in loader:
        fake = langevin(energy, buffer.take(len(real)))
        buffer.put(fake)
        high, low = energy(fake), energy(real)
        loss = low.mean() - high.mean() + 0.05 * (low.square() + high.square()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    near = torch.cdist(fake, corners).amin(dim=1).mean().item()
    print(f"epoch {epoch}: loss {loss.item():+.3f}, distance to a corner {near:.3f}")
