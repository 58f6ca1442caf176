import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Normal, Independent, Bernoulli, kl_divergence


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, 4, 4, 2, 1), nn.ReLU(), nn.Flatten(), nn.Linear(64, 6))
        self.dec = nn.Sequential(
            nn.Linear(3, 64), nn.ReLU(), nn.Unflatten(1, (4, 4, 4)), nn.ConvTranspose2d(4, 1, 4, 2, 1)
        )

    def forward(self, x):
        mu, ls = self.enc(x).chunk(2, 1)
        q = Independent(Normal(mu, F.softplus(ls) + 0.0001), 1)
        z = q.rsample()
        p = Independent(Bernoulli(logits=self.dec(z)), 3)
        return (q, p)


vae = VAE()
opt = torch.optim.Adamax(vae.parameters(), 0.01)
x = (torch.rand(5, 1, 8, 8) > 0.5).float()
prior = Independent(Normal(torch.zeros(3), torch.ones(3)), 1)
for beta in (0.1, 0.5, 1.0):
    q, p = vae(x)
    rec = -p.log_prob(x).mean()
    kl = kl_divergence(q, prior).mean()
    loss = rec + beta * kl
    opt.zero_grad()
    loss.backward()
    gn = nn.utils.clip_grad_norm_(vae.parameters(), 10.0)
    opt.step()
    print(rec.item(), kl.item(), gn)
print(q)
print(p)
print(q.mean.shape)
print(p.mean.shape)
print(p.sample().shape)
print(q.entropy().shape)
