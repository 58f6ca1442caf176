"""The discriminator of a GAN judges real and generated points with the same weights.

Both uses contribute to the gradient of each weight. The generator is in the graph, too; to train
the discriminator alone, you would detach the generated points.
"""

import torch
import torch.nn.functional as F
from torch import nn


class Gan(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 2))
        self.discriminator = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))

    def forward(self, real, noise):
        return self.discriminator(real), self.discriminator(self.generator(noise))


torch.manual_seed(0)
gan = Gan()
says_real, says_made_up = gan(torch.randn(4, 2), torch.randn(4, 2))
loss = F.binary_cross_entropy_with_logits(
    says_real, torch.ones(4, 1)
) + F.binary_cross_entropy_with_logits(says_made_up, torch.zeros(4, 1))
