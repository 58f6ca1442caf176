import torch
import torch.nn as nn

torch.manual_seed(111)
G = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 2))
D = nn.Sequential(nn.Linear(2, 12), nn.LeakyReLU(0.2), nn.Linear(12, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-2)
opt_d = torch.optim.Adam(D.parameters(), lr=1e-2)
bce = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(16, 1), torch.zeros(16, 1)
for step in range(16):
    real, fake = torch.randn(16, 2) + 3, G(torch.randn(16, 4))
    opt_d.zero_grad()
    loss_d = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    if loss_d.requires_grad:
        loss_d.backward()
        opt_d.step()
    for p in D.parameters():
        p.requires_grad_(False)
    opt_g.zero_grad()
    loss_g = bce(D(fake), ones)
    loss_g.backward()
    opt_g.step()
print(loss_d.item(), loss_g.item())
