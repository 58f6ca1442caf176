import torch
from torch import nn, optim

torch.manual_seed(56)
generator = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 3))
discriminator = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 1), nn.Sigmoid())
optimizer_G = optim.Adam(generator.parameters(), lr=2e-3)
optimizer_D = optim.Adam(generator.parameters(), lr=2e-3)
loss_func = nn.BCELoss()
ones, zeros = torch.ones(20, 1), torch.zeros(20, 1)

for epoch in range(25):
    discriminator.zero_grad()
    real, fake = torch.rand(20, 3), generator(torch.randn(20, 5)).detach()
    d_loss = loss_func(discriminator(real), ones) + loss_func(discriminator(fake), zeros)
    d_loss.backward()
    optimizer_D.step()

    generator.zero_grad()
    g_loss = loss_func(discriminator(generator(torch.randn(20, 5))), ones)
    g_loss.backward()
    optimizer_G.step()
print(d_loss.item(), g_loss.item())
