import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(69)
encoder = nn.Linear(10, 4)
decoder = nn.Linear(2, 10)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.05)
data = torch.randn(128, 10)

for epoch in range(60):
    mu, logvar = encoder(data).chunk(2, dim=1)
    z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
    reconstruction = F.mse_loss(decoder(z), data)
    kl = 0.5 * torch.mean(1 + logvar - mu.pow(2) - logvar.exp())
    loss = reconstruction + kl
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item(), kl.item())
