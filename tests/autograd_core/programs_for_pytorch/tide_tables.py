"""Tides: fitted by hand, by a layer for two harbours, and by any number of moons."""

import math

import torch

where, kind = torch.device("cpu"), torch.float
hours = torch.linspace(0, 4 * math.pi, 120, device=where, dtype=kind)
tide = 0.6 * torch.sin(hours) + 0.2 * torch.cos(2 * hours)
mean, flood, ebb = (
    torch.full((), start, device=where, dtype=kind, requires_grad=True)
    for start in (0.4, -0.3, 0.1)
)
for day in range(45):
    guess = mean + flood * hours.sin() + ebb * hours.cos() ** 2
    off = (guess - tide).pow(2).sum()
    off.backward()
    with torch.no_grad():
        for knob in (mean, flood, ebb):
            knob -= 2e-3 * knob.grad
            knob.grad = None
    if day % 15 == 0:
        print(day, off.item())
print(f"mean {mean.item():.4f}, flood {flood.item():.4f}, ebb {ebb.item():.4f}")

two_harbours = torch.stack([tide, tide.roll(20)], 1).flatten(0, 1)
waves = torch.sin(hours.unsqueeze(-1) + torch.arange(4)).pow(torch.tensor([1, 2, 1, 2]))
pilots = torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Flatten(0, 1))
rms = torch.optim.RMSprop(pilots.parameters(), lr=0.01)
for _ in range(6):
    off = torch.nn.MSELoss(reduction="sum")(pilots(waves), two_harbours)
    rms.zero_grad()
    off.backward()
    rms.step()
print(off, pilots[0].weight)


class Moons(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.level = torch.nn.Parameter(torch.randn(()))
        self.pull = torch.nn.Parameter(torch.randn(()))

    def forward(self, hour, moons=3):
        sea = self.level
        for moon in range(1, moons + 1):
            sea = sea + self.pull * torch.cos(moon * hour) / moon
        return sea

    def told(self):
        return f"level {self.level.item():.4f}, pull {self.pull.item():.4f}"


planet = Moons()
planet(torch.tensor(0.25)).backward()
print(planet.told(), planet.level.grad, planet.pull.grad)
