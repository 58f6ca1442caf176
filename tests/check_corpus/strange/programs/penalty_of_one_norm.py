import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
generator = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 4))
opt_c = torch.optim.Adam(critic.parameters(), 1e-3, betas=(0.5, 0.9))
opt_g = torch.optim.Adam(generator.parameters(), 1e-3, betas=(0.5, 0.9))
real = torch.randn(512, 4) + 2


def penalty(real, fake):
    mix = torch.rand(len(real), 1)
    points = (mix * real + (1 - mix) * fake).requires_grad_(True)
    (grads,) = torch.autograd.grad(critic(points).sum(), points, create_graph=True)
    return (grads.norm() - 1) ** 2


for step in range(20):
    batch = real[torch.randint(512, (32,))]
    fake = generator(torch.randn(32, 2))
    loss_c = critic(fake.detach()).mean() - critic(batch).mean()
    loss_c = loss_c + 10 * penalty(batch, fake.detach())
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()
    loss_g = -critic(generator(torch.randn(32, 2))).mean()
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
