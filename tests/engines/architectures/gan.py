"""A generative adversarial network: the last call trains the generator through the other model."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 8), nn.Tanh())
discriminator = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
trained = [torch.optim.Adam(each.parameters(), lr=2e-4) for each in (discriminator, generator)]
real = torch.randn(8, 8)
ones, zeros = torch.ones(8, 1), torch.zeros(8, 1)

fake = generator(torch.randn(8, 4))
loss_d = F.binary_cross_entropy_with_logits(discriminator(real), ones)
loss_d = loss_d + F.binary_cross_entropy_with_logits(discriminator(fake.detach()), zeros)
trained[0].zero_grad()
loss_d.backward()
trained[0].step()

loss_g = F.binary_cross_entropy_with_logits(discriminator(fake), ones)
trained[1].zero_grad()
loss_g.backward()
trained[1].step()
