"""Fit the drift and the noise of a stochastic differential equation to samples."""

import torch
import torchsde
from torch import nn

torch.manual_seed(0)


class Process(nn.Module):
    noise_type, sde_type = "diagonal", "ito"

    def __init__(self):
        super().__init__()
        self.drift = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
        self.log_noise = nn.Parameter(torch.tensor(0.0))

    def f(self, t, y):
        return self.drift(y)

    def g(self, t, y):
        return self.log_noise.exp().expand_as(y)


process = Process()
optimizer = torch.optim.Adam(process.parameters(), lr=2e-2)
times = torch.linspace(0, 1, 5)
history = []
for step in range(25):
    ends = torchsde.sdeint(process, torch.zeros(64, 1), times, dt=0.1, method="euler")[-1]
    loss = (ends.mean() - 1) ** 2 + (ends.std() - 0.3) ** 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.2 * history[0]
