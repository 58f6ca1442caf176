import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Arrows(Dataset):
    """Which way does the arrow in the picture point?"""

    def __init__(self, count, size=9):
        self.angle = 2 * torch.pi * torch.rand(count) - torch.pi
        grid = torch.linspace(-1, 1, size)
        y, x = torch.meshgrid(grid, grid, indexing="ij")
        along = self.angle.cos()[:, None, None] * x + self.angle.sin()[:, None, None] * y
        across = self.angle.cos()[:, None, None] * y - self.angle.sin()[:, None, None] * x
        self.image = torch.sigmoid(4 * along) * torch.exp(-8 * across**2)
        self.image += 0.05 * torch.randn_like(self.image)

    def __len__(self):
        return len(self.angle)

    def __getitem__(self, index):
        return self.image[index].flatten(), self.angle[index]


class Compass(nn.Module):
    def __init__(self, pixels=81, width=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(pixels, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU()
        )
        self.direction = nn.Linear(width, 2)

    def forward(self, x):
        cos, sin = self.direction(self.net(x)).unbind(dim=1)
        return torch.atan2(sin, cos)


class AngleLoss(nn.Module):
    def forward(self, predicted, angle):
        difference = predicted - angle
        return difference.square().mean()


@torch.no_grad()
def error_in_degrees(model, loader):
    model.eval()
    errors = []
    for x, angle in loader:
        difference = model(x) - angle
        errors.append(torch.atan2(difference.sin(), difference.cos()).abs())
    model.train()
    return torch.cat(errors).rad2deg().mean().item()


torch.manual_seed(55)
train = DataLoader(Arrows(960), batch_size=32, shuffle=True)
valid = DataLoader(Arrows(240), batch_size=120)
model, criterion = Compass(), AngleLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(8):
    for x, angle in train:
        loss = criterion(model(x), angle)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, error {error_in_degrees(model, valid):.2f}")
