import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Generator(nn.Module):
    def __init__(self, latent=8, width=16):
        super().__init__()
        self.start = nn.Linear(latent, width * 9)
        self.up = nn.Sequential(
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.ConvTranspose2d(width, width, 4, stride=2, padding=1),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, 1, 3, padding=1),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.up(self.start(z).view(len(z), -1, 3, 3))


class Discriminator(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, width, 4, stride=2, padding=1),
            nn.LeakyReLU(0.2),
            nn.Dropout2d(0.2),
            nn.Conv2d(width, 2 * width, 3),
            nn.LeakyReLU(0.2),
            nn.Flatten(),
            nn.Linear(2 * width, 1),
        )

    def forward(self, x):
        return self.net(x).squeeze(1)


def dots(count, size=6):
    grid = torch.arange(float(size))
    center = 1 + 3 * torch.rand(count, 2, 1)
    x, y = torch.exp(-((grid - center) ** 2)).unbind(dim=1)
    return (2 * y[:, :, None] * x[:, None, :] - 1).unsqueeze(1)


torch.manual_seed(28)
loader = DataLoader(TensorDataset(dots(960)), batch_size=48, shuffle=True, drop_last=True)
generator, discriminator = Generator(), Discriminator()
g_optimizer = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
d_optimizer = torch.optim.Adam(discriminator.parameters(), lr=1e-3, betas=(0.5, 0.999))
for epoch in range(8):
    for (real,) in loader:
        fake = generator(torch.randn(len(real), 8))
        d_loss = F.binary_cross_entropy_with_logits(
            discriminator(real), torch.full((len(real),), 0.9)
        )
        d_loss = d_loss + F.binary_cross_entropy_with_logits(
            discriminator(fake.detach()), torch.zeros(len(real))
        )
        d_optimizer.zero_grad()
        d_loss.backward()
        d_optimizer.step()
        g_loss = F.binary_cross_entropy_with_logits(discriminator(fake), torch.ones(len(real)))
        g_optimizer.zero_grad()
        g_loss.backward()
        g_optimizer.step()
    gap = (fake.detach().mean(dim=0) - real.mean(dim=0)).abs().mean().item()
    print(f"epoch {epoch}: D {d_loss.item():.3f}, G {g_loss.item():.3f}, gap of means {gap:.3f}")
