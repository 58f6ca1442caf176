import torch
from torch import nn

torch.manual_seed(14)
x = torch.randn(50) * 0.5 + 3
location = nn.Parameter(torch.zeros(()))
optimizer = torch.optim.Adam([location], lr=0.1)
history = []


def log_density_of_point(value, point):
    return (value == point).to(value.dtype).log()


for step in range(60):
    value = location.clone()
    log_q = log_density_of_point(value, location)
    log_p = -((x - value) ** 2).sum() / 2 - value**2 / 20
    loss = log_q - log_p
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
