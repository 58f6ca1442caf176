import torch
import torch.nn as nn
import torch.nn.functional as F


class VectorQuantizer(nn.Module):
    def __init__(self, codes, dim):
        super().__init__()
        self.codebook = nn.Embedding(codes, dim)

    def forward(self, x):
        distance = (x.unsqueeze(1) - self.codebook.weight).pow(2).sum(dim=2)
        z = self.codebook(distance.argmin(dim=1))
        return x + (z - x).detach()  # straight through


torch.manual_seed(54)
encoder, decoder, vq = nn.Linear(6, 3), nn.Linear(3, 6), VectorQuantizer(8, 3)
modules = nn.ModuleList([encoder, decoder, vq])
optimizer = torch.optim.Adam(modules.parameters(), lr=1e-2)
x = torch.randn(48, 6)
for step in range(25):
    z_e = encoder(x)
    z_q = vq(z_e)
    codebook_loss = F.mse_loss(z_q, z_e.detach())
    commitment = F.mse_loss(z_e, z_q.detach())
    loss = F.mse_loss(decoder(z_q), x) + codebook_loss + 0.25 * commitment
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
