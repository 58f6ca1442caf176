import torch
import torch.nn as nn

torch.manual_seed(30)
discriminator = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
generator = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
opt_g = torch.optim.Adam(generator.parameters(), lr=0.01)
opt_d = torch.optim.Adam(discriminator.parameters(), lr=0.005)
bce = nn.BCEWithLogitsLoss()
history = []
for step in range(40):
    real, z = torch.randn(32, 2) * 0.2 + 1, torch.randn(32, 3)
    if step < 10:
        discriminator.requires_grad_(True)
        fake = generator(z).detach()
        d_loss = bce(discriminator(real), torch.ones(32, 1)) + bce(
            discriminator(fake), torch.zeros(32, 1)
        )
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
    discriminator.requires_grad_(False)
    g_loss = bce(discriminator(generator(z)), torch.ones(32, 1))
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    history.append(g_loss.item())
