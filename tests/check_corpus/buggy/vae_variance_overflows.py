import torch
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self, features=8, latent=2):
        super().__init__()
        self.enc = nn.Linear(features, 16)
        self.mu, self.logvar = nn.Linear(16, latent), nn.Linear(16, latent)
        self.dec = nn.Linear(latent, features)

    def forward(self, x):
        h = F.relu(self.enc(x))
        mu, logvar = self.mu(h), self.logvar(h)
        std = torch.exp(0.5 * logvar)
        return self.dec(mu + std * torch.randn_like(std)), mu, logvar


torch.manual_seed(46)
table = torch.rand(64, 8) * 2000  # incomes, ages, ...
vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=1e-2)
for epoch in range(30):
    recon, mu, logvar = vae(table)
    kld = -0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())
    loss = F.mse_loss(recon, table) + kld
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(epoch, loss.item(), kld.item())
