import torch
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(10, 24), nn.ReLU())
        self.mu, self.logvar = nn.Linear(24, 2), nn.Linear(24, 2)
        self.dec = nn.Sequential(nn.Linear(2, 24), nn.ReLU(), nn.Linear(24, 10))

    def forward(self, x):
        h = self.enc(x)
        mu, logvar = self.mu(h), self.logvar(h)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        return self.dec(z), mu, logvar


torch.manual_seed(17)
data = torch.randn(96, 2) @ torch.randn(2, 10)
vae = VAE()
optimizer = torch.optim.Adam(vae.parameters(), lr=0.01)
history = []
for epoch in range(40):
    recon, mu, logvar = vae(data)
    kld = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(dim=1).mean()
    loss = F.mse_loss(recon, data, reduction="sum") / len(data) + 0.1 * kld
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
