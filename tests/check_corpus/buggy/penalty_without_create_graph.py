import torch
from torch import autograd, nn

torch.manual_seed(19)


def gradient_penalty(critic, real, fake):
    eps = torch.rand(real.size(0), 1)
    mixed = (eps * real + (1 - eps) * fake).requires_grad_(True)
    scores = critic(mixed)
    (grads,) = autograd.grad(scores, mixed, grad_outputs=torch.ones_like(scores))
    return ((grads.norm(2, dim=1) - 1) ** 2).mean()


critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
generator = nn.Linear(3, 2)
opt_c = torch.optim.Adam(critic.parameters(), lr=1e-3, betas=(0.0, 0.9))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-3, betas=(0.0, 0.9))
for step in range(20):
    real = torch.randn(32, 2) + 3
    fake = generator(torch.randn(32, 3)).detach()
    penalty = gradient_penalty(critic, real, fake)
    loss_c = critic(fake).mean() - critic(real).mean() + 10 * penalty
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()
    loss_g = -critic(generator(torch.randn(32, 3))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
print(loss_c.item(), penalty.item())
