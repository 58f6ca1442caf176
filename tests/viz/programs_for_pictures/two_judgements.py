"""A GAN's judge, on what is real and on what is made up."""

import torch
from torch import nn

torch.manual_seed(0)

G = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
D = nn.Sequential(nn.Linear(4, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
bce = nn.BCEWithLogitsLoss()
real = torch.randn(10, 4)
fake = G(torch.randn(10, 8))
loss = bce(D(real), torch.ones(10, 1)) + bce(D(fake.detach()), torch.zeros(10, 1))
loss.backward()
