import itertools

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make(count, shift):
    x = torch.randn(count, 10) + shift
    y = (x[:, 0] * x[:, 1] + x[:, 2] > 0).float()
    return TensorDataset(x, y)


class Network(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(10, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
        )

    def forward(self, x):
        return self.net(x).squeeze(1)


def train_epoch(model, batches, optimizer, criterion):
    model.train()
    total = steps = 0
    for (first, first_y), (second, second_y) in batches:
        x, y = torch.cat([first, second]), torch.cat([first_y, second_y])
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, steps = total + loss.item(), steps + 1
    return total / max(steps, 1)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    right = sum(((model(x) > 0) == y.bool()).sum().item() for x, y in loader)
    return right / len(loader.dataset)


torch.manual_seed(57)
north = DataLoader(make(1280, 0.0), batch_size=20, shuffle=True)
south = DataLoader(make(1280, 0.5), batch_size=20, shuffle=True)
valid = DataLoader(make(400, 0.25), batch_size=200)
model = Network()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.BCEWithLogitsLoss()
batches = zip(north, south)
for epoch in itertools.count():
    loss = train_epoch(model, batches, optimizer, criterion)
    score = accuracy(model, valid)
    print(f"epoch {epoch}: loss {loss:.3f}, accuracy {score:.3f}")
    if epoch == 5 or score > 0.99:
        break
