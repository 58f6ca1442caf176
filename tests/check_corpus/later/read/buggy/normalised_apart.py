import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def load_series(days=500):
    day = torch.arange(float(days))
    demand = 20 + 0.05 * day + 3 * torch.sin(2 * torch.pi * day / 7) + 0.3 * torch.randn(days)
    price = 5 + 0.01 * day + 0.2 * torch.randn(days)
    return torch.stack([demand, price], dim=1)


class Windows(Dataset):
    def __init__(self, series, window=14):
        mean, std = series.mean(dim=0), series.std(dim=0)
        self.inputs = (series - mean) / std
        self.targets = series[:, 0]
        self.window = window

    def __len__(self):
        return len(self.inputs) - self.window

    def __getitem__(self, index):
        end = index + self.window
        return self.inputs[index:end], self.targets[end]


class Forecaster(nn.Module):
    def __init__(self, features=2, width=24):
        super().__init__()
        self.rnn = nn.GRU(features, width, batch_first=True)
        self.out = nn.Linear(width, 1)
        self.register_buffer("offset", torch.tensor(25.0))

    def forward(self, x):
        hidden, _ = self.rnn(x)
        return self.out(hidden[:, -1]).squeeze(1) * 5 + self.offset


def mean_absolute_error(model, loader):
    model.eval()
    with torch.no_grad():
        errors = [(model(x) - y).abs().mean().item() for x, y in loader]
    model.train()
    return sum(errors) / len(errors)


torch.manual_seed(29)
series = load_series()
train, valid = Windows(series[:400]), Windows(series[400:])
train_loader = DataLoader(train, batch_size=32, shuffle=True)
valid_loader = DataLoader(valid, batch_size=32)
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.SmoothL1Loss()

for epoch in range(12):
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    error = mean_absolute_error(model, valid_loader)
    print(f"epoch {epoch}: loss {loss.item():.3f}, validation error {error:.3f}")
