import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def river_level(hours=900):
    noise = torch.randn(hours)
    level = torch.zeros(hours)
    for hour in range(2, hours):
        level[hour] = 1.6 * level[hour - 1] - 0.7 * level[hour - 2] + noise[hour]
    return (level - level.mean()) / level.std()


class Windows(Dataset):
    def __init__(self, series, length=12):
        self.series, self.length = series, length

    def __len__(self):
        return len(self.series) - self.length

    def __getitem__(self, index):
        end = index + self.length
        window = self.series[index:end]
        target = self.series[end - 1]
        return window.unsqueeze(-1), target


class Forecaster(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.rnn = nn.GRU(1, width, batch_first=True)
        self.head = nn.Linear(width, 1)

    def forward(self, window):
        states, _ = self.rnn(window)
        return self.head(states[:, -1]).squeeze(1)


def train_epoch(model, loader, optimizer):
    for window, target in loader:
        loss = nn.functional.mse_loss(model(window), target)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return loss.item()


@torch.no_grad()
def one_hour_ahead(model, series, length=12):
    windows = series.unfold(0, length, 1)[:-1].unsqueeze(-1)
    return (model(windows) - series[length:]).square().mean().item()


torch.manual_seed(58)
series = river_level()
train, valid = series[:700], series[700:]
loader = DataLoader(Windows(train), batch_size=32, shuffle=True)
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(8):
    loss = train_epoch(model, loader, optimizer)
    print(
        f"epoch {epoch}: loss {loss:.4f}, error one hour ahead {one_hour_ahead(model, valid):.4f}"
    )
