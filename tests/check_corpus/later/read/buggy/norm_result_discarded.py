import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)

    def forward(self, x):
        out = self.conv1(x)
        self.bn1(out)
        out = F.relu(out)
        out = self.conv2(out)
        self.bn2(out)
        return F.relu(out + x)


class ResNet(nn.Module):
    def __init__(self, classes=4, channels=12, depth=6):
        super().__init__()
        self.stem = nn.Conv2d(1, channels, 3, padding=1)
        self.blocks = nn.Sequential(*(Block(channels) for _ in range(depth)))
        self.fc = nn.Linear(channels, classes)

    def forward(self, x):
        x = self.blocks(F.relu(self.stem(x)))
        return self.fc(x.mean(dim=(2, 3)))


def stripes(count, size=12):
    label = torch.randint(0, 4, (count,))
    angle = label * torch.pi / 4
    grid = torch.arange(size).float()
    phase = 6 * torch.rand(count, 1, 1)
    x = torch.cos(angle)[:, None, None] * grid[None, None, :]
    y = torch.sin(angle)[:, None, None] * grid[None, :, None]
    image = torch.sin(1.3 * (x + y) + phase) + 0.7 * torch.randn(count, size, size)
    return TensorDataset(3 * image.unsqueeze(1), label)


@torch.no_grad()
def test(model, loader):
    model.eval()
    hits = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train()
    return hits / len(loader.dataset)


torch.manual_seed(5)
train = DataLoader(stripes(480), batch_size=32, shuffle=True)
valid = DataLoader(stripes(160), batch_size=80)
model = ResNet()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)

for epoch in range(6):
    for images, labels in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: accuracy {test(model, valid):.3f}")
