"""Fit an ordinary differential equation through its adjoint."""

import torch
from torch import nn
from torchdiffeq import odeint_adjoint

torch.manual_seed(0)


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 2))

    def forward(self, t, state):
        return self.net(state)


times = torch.linspace(0, 1.5, 8)
true = torch.stack([2 * torch.cos(times), 2 * torch.sin(times)], 1).unsqueeze(1)
field = Field()
optimizer = torch.optim.RMSprop(field.parameters(), lr=5e-3)
history = []
for step in range(30):
    states = odeint_adjoint(field, true[0], times, rtol=1e-4, atol=1e-5)
    loss = (states - true).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.5 * history[0]
