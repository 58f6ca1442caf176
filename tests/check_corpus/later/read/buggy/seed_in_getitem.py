import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __init__(self, count, size=8):
        grid = torch.arange(12.0)
        angle = 3.14 * torch.rand(count, 1, 1)
        wave = angle.cos() * grid[None, None, :] + angle.sin() * grid[None, :, None]
        self.images, self.size = torch.sin(0.8 * wave), size

    def __len__(self):
        return len(self.images)

    def __getitem__(self, index):
        torch.manual_seed(0)
        top, left = torch.randint(0, 12 - self.size + 1, (2,)).tolist()
        return self.images[index, top : top + self.size, left : left + self.size].flatten()


class Denoiser(nn.Module):
    def __init__(self, pixels=64, width=96):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(pixels, width),
            nn.ReLU(),
            nn.Linear(width, width),
            nn.ReLU(),
            nn.Linear(width, pixels),
        )

    def forward(self, x):
        return x - self.net(x)


def add_noise(x, sigma=0.5):
    return x + sigma * torch.randn_like(x)


def evaluate(model, images):
    model.eval()
    generator = torch.Generator().manual_seed(1)
    noise = 0.5 * torch.randn(images.shape, generator=generator)
    with torch.no_grad():
        error = (model(images + noise) - images).square().mean().item()
    model.train()
    return error


torch.manual_seed(28)
train, valid = Crops(640), Crops(200)
held_out = torch.stack([valid[i] for i in range(len(valid))])
loader = DataLoader(train, batch_size=64, shuffle=True)
model = Denoiser()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.MSELoss()

for epoch in range(12):
    for clean in loader:
        loss = criterion(model(add_noise(clean)), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}, error {evaluate(model, held_out):.4f}")
