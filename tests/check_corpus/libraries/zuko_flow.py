"""Fit a spline flow to a bent distribution by maximum likelihood."""

import torch
import zuko

torch.manual_seed(0)
flow = zuko.flows.NSF(features=2, transforms=2, hidden_features=(32,))
optimizer = torch.optim.Adam(flow.parameters(), lr=5e-3)
history = []
for step in range(25):
    first = torch.randn(128)
    x = torch.stack([first, first**2 + 0.3 * torch.randn(128)], 1)
    loss = -flow().log_prob(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert sum(history[-5:]) < 0.9 * sum(history[:5])
