import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
encoder, decoder = nn.Linear(6, 3), nn.Linear(3, 6)
codebook = nn.Embedding(16, 3)
params = [*encoder.parameters(), *decoder.parameters(), *codebook.parameters()]
optimizer = torch.optim.Adam(params, lr=3e-2)
x = torch.randn(64, 2) @ torch.randn(2, 6) / 2
history = []
for step in range(60):
    z_e = encoder(x)
    nearest = torch.cdist(z_e, codebook.weight).argmin(dim=1)
    z_q = codebook(nearest)
    code = z_e + (z_q - z_e).detach()
    loss = F.mse_loss(decoder(code), x)
    loss = loss + F.mse_loss(z_q, z_e.detach()) + 0.25 * F.mse_loss(z_e, z_q.detach())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
