import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def init_weights(module):
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, mean=0.0, std=1.0)
        nn.init.zeros_(module.bias)


class Mixer(nn.Module):
    def __init__(self, patches, width):
        super().__init__()
        self.tokens = nn.Sequential(nn.Linear(patches, 32), nn.GELU(), nn.Linear(32, patches))
        self.channels = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width))

    def forward(self, x):
        x = x + self.tokens(x.transpose(1, 2)).transpose(1, 2)
        return x + self.channels(x)


class MixerNet(nn.Module):
    def __init__(self, patches=9, pixels=16, width=32, classes=3):
        super().__init__()
        self.embed = nn.Linear(pixels, width)
        self.blocks = nn.Sequential(Mixer(patches, width), Mixer(patches, width))
        self.head = nn.Linear(width, classes)
        self.apply(init_weights)

    def forward(self, x):
        return self.head(self.blocks(self.embed(x)).mean(dim=1))


def textures(count):
    label = torch.randint(0, 3, (count,))
    grid = torch.arange(16.0)
    pitch = (0.5 + 0.4 * label)[:, None, None]
    phase = 6.28 * torch.rand(count, 9, 1)
    return TensorDataset(torch.sin(pitch * grid + phase) + 0.4 * torch.randn(count, 9, 16), label)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train()
    return right / len(loader.dataset)


torch.manual_seed(56)
train = DataLoader(textures(640), batch_size=32, shuffle=True)
valid = DataLoader(textures(240), batch_size=120)
model = MixerNet()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(6):
    for x, label in train:
        loss = F.cross_entropy(model(x), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {accuracy(model, valid):.3f}")
