import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIZE = 16


class Faces(Dataset):
    def __init__(self, count, augment):
        self.augment = augment
        self.points = torch.randint(2, SIZE - 2, (count, 2)).float()
        grid = torch.arange(SIZE).float()
        x = torch.exp(-((grid - self.points[:, :1]) ** 2) / 4)
        y = torch.exp(-((grid - self.points[:, 1:]) ** 2) / 4)
        self.images = (y[:, :, None] * x[:, None, :]).unsqueeze(1)
        self.images += 0.05 * torch.randn_like(self.images)

    def __len__(self):
        return len(self.points)

    def __getitem__(self, index):
        image, point = self.images[index], self.points[index] / (SIZE - 1)
        if self.augment and torch.rand(()) < 0.5:
            image = image.flip(-1)
        return image, point


class KeypointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(16 * 64, 64),
            nn.ReLU(),
        )
        self.head = nn.Linear(64, 2)

    def forward(self, image):
        return torch.sigmoid(self.head(self.body(image)))


def pixel_error(model, loader):
    model.eval()
    errors = []
    with torch.no_grad():
        for image, point in loader:
            errors.append((model(image) - point).abs().mean() * (SIZE - 1))
    model.train()
    return torch.stack(errors).mean().item()


torch.manual_seed(4)
train_loader = DataLoader(Faces(640, augment=True), batch_size=32, shuffle=True)
valid_loader = DataLoader(Faces(160, augment=False), batch_size=32)
model = KeypointNet()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.MSELoss()

for epoch in range(10):
    for image, point in train_loader:
        loss = criterion(model(image), point)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: error {pixel_error(model, valid_loader):.3f}")
