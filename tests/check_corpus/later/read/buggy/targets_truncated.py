import csv
import io
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


def write_table(rows):
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["area", "rooms", "age", "price"])
    for _ in range(rows):
        area, rooms, age = random.random(), random.random(), random.random()
        price = 0.5 * area + 0.3 * rooms - 0.2 * age + 0.25
        writer.writerow([area, rooms, age, min(max(price, 0.01), 0.99)])
    return file.getvalue()


class Houses(Dataset):
    def __init__(self, table):
        rows = list(csv.DictReader(io.StringIO(table)))
        self.features = torch.tensor(
            [[float(row[name]) for name in ("area", "rooms", "age")] for row in rows]
        )
        prices = [float(row["price"]) for row in rows]
        self.prices = torch.tensor(prices, dtype=torch.long)
        self.raw = torch.tensor(prices)

    def __len__(self):
        return len(self.prices)

    def __getitem__(self, index):
        return self.features[index], self.prices[index]


class Regression(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


@torch.no_grad()
def mean_error(model, data, subset):
    chosen = torch.tensor(subset.indices)
    return (model(data.features[chosen]) - data.raw[chosen]).abs().mean().item()


random.seed(26)
torch.manual_seed(26)
data = Houses(write_table(800))
train, valid = random_split(data, [640, 160])
loader = DataLoader(train, batch_size=32, shuffle=True)
model = Regression()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.MSELoss()

for epoch in range(8):
    for x, price in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), price.float())
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.5f}, error {mean_error(model, data, valid):.3f}")
