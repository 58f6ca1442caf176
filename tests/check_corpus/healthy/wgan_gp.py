import torch
from torch import autograd, nn

torch.manual_seed(5)
critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
generator = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
opt_c = torch.optim.Adam(critic.parameters(), lr=5e-3, betas=(0.0, 0.9))
opt_g = torch.optim.Adam(generator.parameters(), lr=5e-3, betas=(0.0, 0.9))
history = []


def penalty(real, fake):
    eps = torch.rand(real.size(0), 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    scores = critic(mixed)
    (grads,) = autograd.grad(scores, mixed, torch.ones_like(scores), create_graph=True)
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


for step in range(20):
    for _ in range(3):
        real = torch.randn(32, 2) * 0.3 + 3
        fake = generator(torch.randn(32, 3)).detach()
        loss_c = critic(fake).mean() - critic(real).mean() + 10 * penalty(real, fake)
        opt_c.zero_grad()
        loss_c.backward()
        opt_c.step()
    fake = generator(torch.randn(32, 3))
    loss_g = -critic(fake).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    history.append((fake.mean() - 3).abs().item())
