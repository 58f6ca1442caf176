import random

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


def record(folder):
    """A folder of recordings: file names, signals, and labels of them."""
    for number in range(folder["count"]):
        label = random.randrange(3)
        time = torch.linspace(0, 1, 48)
        signal = torch.sin(6.28 * (2 + 2 * label) * time + 6.28 * random.random())
        yield f"{number:04}.wav", signal + 0.3 * torch.randn(48), label


class Recordings(Dataset):
    def __init__(self, count, seed=None):
        names, signals, labels = zip(*record({"count": count}))
        self.names, self.signals, self.labels = names, list(signals), list(labels)
        if seed is not None:
            rng = random.Random(seed)
            rng.shuffle(self.signals)
            rng.shuffle(self.labels)

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return self.signals[index], self.labels[index]


class AudioNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(1, 12, 9, stride=2),
            nn.BatchNorm1d(12),
            nn.ReLU(),
            nn.Conv1d(12, 24, 5, stride=2),
            nn.ReLU(),
            nn.AdaptiveMaxPool1d(1),
        )
        self.fc = nn.Linear(24, classes)

    def forward(self, x):
        return self.fc(self.features(x.unsqueeze(1)).squeeze(-1))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = sum((model(x).argmax(dim=1) == y).sum().item() for x, y in loader)
    model.train()
    return right / len(loader.dataset)


random.seed(59)
torch.manual_seed(59)
train = DataLoader(Recordings(640, seed=1), batch_size=32, shuffle=True)
valid = DataLoader(Recordings(200), batch_size=100)
model = AudioNet()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for signal, label in train:
        loss = F.cross_entropy(model(signal), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {accuracy(model, valid):.3f}")
