import torch
import torch.nn as nn


def morse(places):
    """The potential that is to be learned."""
    return ((1 - torch.exp(1 - places.pow(2).sum(dim=1).add(0.1).sqrt())) ** 2).sum()


torch.manual_seed(91)
net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
history = []
for step in range(40):
    places = torch.randn(32, 3, requires_grad=True)
    true_energy = morse(places)
    (true_forces,) = torch.autograd.grad(true_energy, places)
    energy = net(places).sum()
    (forces,) = torch.autograd.grad(energy, places, create_graph=True)
    loss = (forces - true_forces).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
