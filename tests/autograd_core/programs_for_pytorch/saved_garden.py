"""A model of a garden is written to disk, read again, and goes on exactly where it stopped."""

import os
import tempfile

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

folder = tempfile.mkdtemp()
seed_bag = os.path.join(folder, "garden.pt")


class Garden(nn.Module):
    def __init__(self):
        super().__init__()
        self.soil = nn.Sequential(nn.Linear(3, 6), nn.BatchNorm1d(6), nn.ReLU())
        self.bloom = nn.Linear(6, 2)
        self.register_buffer("waterings", torch.zeros((), dtype=torch.long))

    def forward(self, weather):
        self.waterings += 1
        return self.bloom(self.soil(weather))


def planted():
    garden = Garden()
    adam = torch.optim.Adam(garden.parameters(), lr=0.02)
    return garden, adam, torch.optim.lr_scheduler.StepLR(adam, 2, 0.3)


weather = TensorDataset(torch.randn(24, 3), torch.randint(0, 2, (24,)))
spring, autumn = random_split(weather, [18, 6], generator=torch.Generator().manual_seed(5))
print(len(spring), len(autumn))


def season(garden, adam, slower):
    total = 0.0
    for days, flowers in DataLoader(weather, batch_size=6):
        loss = nn.functional.cross_entropy(garden(days), flowers)
        adam.zero_grad()
        loss.backward()
        adam.step()
        total += loss.item()
    slower.step()
    return total


garden, adam, slower = planted()
lowest = float("inf")
for year in range(4):
    total = season(garden, adam, slower)
    if total < lowest:
        lowest = total
        kept = {"plants": garden.state_dict(), "tools": adam.state_dict()}
        kept |= {"calendar": slower.state_dict(), "year": year, "total": total}
        torch.save(kept, seed_bag)

found = torch.load(seed_bag, map_location=torch.device("cpu"), weights_only=True)
print(list(found), found["year"], found["total"])
print(type(found["plants"]).__name__, found["tools"]["param_groups"][0]["lr"])
again = []
for _ in range(2):
    other, tools, calendar = planted()
    found = torch.load(seed_bag)
    other.load_state_dict(found["plants"])
    tools.load_state_dict(found["tools"])
    calendar.load_state_dict(found["calendar"])
    again.append(season(other, tools, calendar))
print(again[0] == again[1], other.waterings, calendar.get_last_lr())
for name in other.state_dict():
    print(f"{name}: {tuple(other.state_dict()[name].size())}")

torch.save(garden.bloom.weight, seed_bag)
weight = torch.load(seed_bag)
print(weight, isinstance(weight, nn.Parameter), weight.requires_grad)
torch.save({"list": [torch.arange(4), None], "pair": (True, "rose", 0.5)}, seed_bag)
print(torch.load(seed_bag))

soil = {name: kept for name, kept in found["plants"].items() if not name.startswith("bloom")}
orchard = Garden()
print(orchard.load_state_dict(soil, strict=False))
orchard.bloom = nn.Linear(6, 4)
print([name for name, _ in orchard.named_parameters()])
state = torch.get_rng_state()
first = torch.rand(3)
torch.set_rng_state(state)
