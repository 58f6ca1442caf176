"""The loss of WGAN-GP's judge, with the gradient of its penalty."""

import torch
from torch import nn

torch.manual_seed(0)

D = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
real, fake, eps = torch.randn(10, 4), torch.randn(10, 4), torch.rand(10, 1)
mix = (eps * real + (1 - eps) * fake).requires_grad_()
(g,) = torch.autograd.grad(D(mix).sum(), mix, create_graph=True)
loss = D(fake).mean() - D(real).mean() + 10 * ((g.norm(2, dim=1) - 1) ** 2).mean()
loss.backward()
