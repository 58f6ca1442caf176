import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(80)
G = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=5e-3, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=5e-3, betas=(0.5, 0.999))
ones, zeros = torch.ones(32, 1), torch.zeros(32, 1)
bce = F.binary_cross_entropy_with_logits
history = []
for step in range(50):
    real = torch.randn(32, 2) * 0.3 + 2
    fake = G(torch.randn(32, 4))
    loss_d = bce(D(real), 0.9 * ones) + bce(D(fake.detach()), zeros)
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    loss_g = bce(D(fake), ones)
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    history.append((fake.mean(dim=0) - 2).norm().item())
