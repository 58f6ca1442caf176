"""A variational autoencoder: two losses, and a random number that gradients pass around."""

import torch
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc1 = nn.Linear(64, 32)
        self.mu = nn.Linear(32, 4)
        self.logvar = nn.Linear(32, 4)
        self.fc3 = nn.Linear(4, 32)
        self.fc4 = nn.Linear(32, 64)

    def encode(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = F.relu(self.fc1(x))
        return self.mu(hidden), self.logvar(hidden)

    def decode(self, z: torch.Tensor) -> torch.Tensor:
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        mu, logvar = self.encode(x)
        std = torch.exp(0.5 * logvar)
        z = mu + std * torch.randn_like(std)
        return self.decode(z), mu, logvar


torch.manual_seed(0)
model = VAE()
images = torch.rand(8, 64)
decoded, mu, logvar = model(images)
reconstruction = F.binary_cross_entropy(decoded, images, reduction="sum")
divergence = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
loss = reconstruction + divergence
loss.backward()
