"""Spiking neurons of SpikingJelly; the state of the net is reset after each batch."""

import torch
from spikingjelly.activation_based import functional, layer, neuron, surrogate
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    layer.Linear(8, 32), neuron.LIFNode(surrogate_function=surrogate.ATan()),
    layer.Linear(32, 3), neuron.LIFNode(surrogate_function=surrogate.ATan()),
)  # fmt: skip
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
history = []
for step in range(30):
    labels = torch.randint(3, (32,))
    x = 0.5 * torch.randn(32, 8)
    x[torch.arange(32), labels] += 3
    rate = sum(net(x) for _ in range(8)) / 8
    loss = nn.functional.mse_loss(rate, nn.functional.one_hot(labels, 3).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    functional.reset_net(net)
    history.append(loss.item())
assert history[-1] < 0.7 * history[0]
