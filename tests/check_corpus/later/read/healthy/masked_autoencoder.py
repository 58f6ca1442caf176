import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MaskedAutoencoder(nn.Module):
    """Sees half of the patches and draws the others."""

    def __init__(self, patches=16, pixels=4, width=32, kept=8):
        super().__init__()
        self.kept = kept
        self.embed = nn.Linear(pixels, width)
        self.position = nn.Parameter(0.1 * torch.randn(patches, width))
        self.mask_token = nn.Parameter(torch.zeros(width))
        self.encoder = nn.TransformerEncoderLayer(width, 4, 64, 0.0, batch_first=True)
        self.decoder = nn.TransformerEncoderLayer(width, 4, 64, 0.0, batch_first=True)
        self.out = nn.Linear(width, pixels)

    def forward(self, patches):
        count, length, _ = patches.shape
        order = torch.rand(count, length).argsort(dim=1)
        kept, hidden = order[:, : self.kept], order[:, self.kept :]
        rows = torch.arange(count).unsqueeze(1)
        seen = self.embed(patches[rows, kept]) + self.position[kept]
        tokens = self.mask_token.expand(count, length, -1).clone()
        tokens[rows, kept] = self.encoder(seen)
        drawn = self.out(self.decoder(tokens + self.position))
        return (drawn[rows, hidden] - patches[rows, hidden]).square().mean()


def gratings(count):
    grid = torch.arange(8.0)
    angle, phase = 1.57 * torch.randint(2, (count, 1, 1)), 6.28 * torch.rand(count, 1, 1)
    wave = angle.cos() * grid[None, None, :] + angle.sin() * grid[None, :, None]
    images = torch.sin(0.6 * wave + phase)
    patches = images.reshape(count, 4, 2, 4, 2).transpose(2, 3)
    return TensorDataset(patches.reshape(count, 16, 4))


torch.manual_seed(10)
train = DataLoader(gratings(640), batch_size=32, shuffle=True)
valid = DataLoader(gratings(128), batch_size=64)
model = MaskedAutoencoder()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.05)
warmup = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=20)
for epoch in range(6):
    model.train()
    for (patches,) in train:
        loss = model(patches)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        warmup.step()
    model.eval()
    with torch.no_grad():
        error = sum(model(patches).item() for (patches,) in valid) / len(valid)
    print(f"epoch {epoch}: validation error {error:.4f}")
