import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Waves(Dataset):
    def __init__(self, count, length=32):
        time = torch.linspace(0, 1, length)
        pitch = torch.randint(1, 5, (count, 1))
        self.waves = torch.sin(2 * torch.pi * (pitch * time + torch.rand(count, 1)))

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, index):
        return self.waves[index]


class NoisePredictor(nn.Module):
    def __init__(self, length=32, width=128):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(length + 1, width),
            nn.GELU(),
            nn.Linear(width, width),
            nn.GELU(),
            nn.Linear(width, length),
        )

    def forward(self, x, sigma):
        return self.layers(torch.cat([x / (1 + sigma), sigma], dim=1))


def corrupt(x):
    sigma = 0.1 + torch.rand(len(x), 1)
    return x + sigma * torch.randn_like(x), sigma


def training_loss(model, x):
    noise = torch.randn_like(x)
    noisy, sigma = corrupt(x)
    return F.mse_loss(model(noisy, sigma), noise)


@torch.no_grad()
def denoising_error(model, loader):
    model.eval()
    errors = []
    for x in loader:
        noisy, sigma = corrupt(x)
        errors.append(F.mse_loss(noisy - sigma * model(noisy, sigma), x))
    model.train()
    return torch.stack(errors).mean().item()


torch.manual_seed(10)
train = DataLoader(Waves(1280), batch_size=64, shuffle=True)
valid = DataLoader(Waves(320), batch_size=64)
model = NoisePredictor()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)

for epoch in range(12):
    for x in train:
        loss = training_loss(model, x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    scheduler.step()
    print(f"epoch {epoch}: error {denoising_error(model, valid):.3f}")
