"""An encoder that runs under ``no_grad()``, left there from the evaluation: it never learns."""

import torch
from torch import nn

torch.manual_seed(0)
encoder, head = nn.Linear(6, 4), nn.Linear(4, 2)


def embed(x):
    with torch.no_grad():
        return torch.tanh(encoder(x))


optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
loss = nn.functional.cross_entropy(head(embed(torch.randn(8, 6))), torch.tensor([0, 1] * 4))
loss.backward()
optimizer.step()
print("encoder.weight.grad is", encoder.weight.grad)
