"""The discriminator of a GAN sees real points and made-up ones, with the same weights.

Both uses send a gradient to each weight. The generator is in the graph, too; training the
discriminator alone would take ``made_up.detach()``.
"""

import autograd_core as torch
import autograd_core.nn.functional as F
from autograd_core import nn

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
discriminator = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))

real, made_up = torch.randn(4, 2), generator(torch.randn(4, 2))
says_real, says_made_up = discriminator(real), discriminator(made_up)
loss = F.binary_cross_entropy_with_logits(
    says_real, torch.ones(4, 1)
) + F.binary_cross_entropy_with_logits(says_made_up, torch.zeros(4, 1))
