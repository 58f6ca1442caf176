"""A hook in the loop: another one is registered in each step of the loop, and all of them run.

Each halves the gradient once more. The remedy is to register it once, before the loop.
"""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def halve(gradient):
    return gradient / 2


for _ in range(4):
    optimizer.zero_grad()
    model.weight.register_hook(halve)
    model(torch.ones(5, 3)).pow(2).mean().backward()
    optimizer.step()
print(f"gradient of the last step: {model.weight.grad.abs().max().item():.3g}")
