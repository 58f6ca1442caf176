import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class RunningStatistics:
    """Sums over batches, so that the data need not fit into memory."""

    def __init__(self, features):
        self.count = 0
        self.total = torch.zeros(features)
        self.squares = torch.zeros(features)

    def add(self, x):
        self.count += len(x)
        self.total += x.sum(dim=0)
        self.squares += (x * x).sum(dim=0)

    def mean(self):
        return self.total / self.count

    def std(self):
        variance = self.squares / self.count - self.mean() ** 2
        return variance.clamp(min=0).sqrt() + 1e-6


def weather(count):
    pressure = 101_300 + 8 * torch.randn(count)
    temperature = 288 + 5 * torch.randn(count)
    humidity = torch.rand(count)
    x = torch.stack([pressure, temperature, humidity], dim=1)
    rain = -(pressure - 101_300) / 8 + 0.5 * (temperature - 288) / 5 + humidity
    return x, rain.unsqueeze(1)


class Net(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)
        self.net = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net((x - self.mean) / self.std)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        error = (model(x) - y).square().mean().item()
    model.train()
    return error


torch.manual_seed(25)
x, y = weather(1280)
valid_x, valid_y = weather(320)
loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
statistics = RunningStatistics(features=3)
for batch, _ in loader:
    statistics.add(batch)
model = Net(statistics.mean(), statistics.std())
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.MSELoss()

for epoch in range(10):
    for batch, target in loader:
        loss = criterion(model(batch), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: error {evaluate(model, valid_x, valid_y):.4f}")
