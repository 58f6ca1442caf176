"""A map is drawn through measured heights, with even slopes between them; a guide goes down it."""

from itertools import pairwise

import torch
import torch.autograd as autograd
import torch.nn as nn
from torch.optim import Adam

torch.manual_seed(6)


class Terrain(nn.Module):
    """The height of each place on a map."""

    def __init__(self, *widths):
        super().__init__()
        layers = []
        for inner, outer in pairwise(widths[:-1]):
            layers += [nn.Linear(inner, outer), nn.LeakyReLU(0.3, inplace=True)]
        layers.append(nn.Linear(widths[-2], widths[-1]))
        self.relief = nn.Sequential(*layers)

    def forward(self, place):
        return self.relief(place.view(place.shape[0], -1))


def uneven(terrain, places):
    """How much the slope halfway to a neighbour differs from the mean slope."""
    halfway = ((places + places.roll(1, 0)) / 2).requires_grad_(True)
    heights = terrain(halfway)
    (slope,) = autograd.grad(
        outputs=heights,
        inputs=halfway,
        grad_outputs=torch.ones(heights.size(), requires_grad=False),
        create_graph=True,
        retain_graph=True,
        only_inputs=True,
    )
    steepness = slope.view(slope.size(0), -1).norm(2, dim=1)
    return ((steepness - steepness.mean()) ** 2).mean()


terrain = Terrain(2, 14, 8, 1)
print(terrain)
drawing = Adam(terrain.parameters(), lr=0.01, betas=(0.4, 0.95))
huts = torch.randn(12, 2)
measured = huts.sin().sum(1, keepdim=True)
for sheet in range(8):
    drawing.zero_grad()
    wrong = torch.mean((terrain(huts) - measured).abs()) + 3 * uneven(terrain, huts.data)
    wrong.backward()
    drawing.step()
    if sheet % 4 == 3:
        print("sheet %d: %f wrong" % (sheet, wrong.item()))


def stage(inner, outer, scaled=True):
    scales = [nn.BatchNorm1d(outer, 0.5)] if scaled else []
    return [nn.Linear(inner, outer), *scales, nn.LeakyReLU(0.3, inplace=True)]


guide = nn.Sequential(*stage(2, 6, scaled=False), *stage(6, 9), nn.Linear(9, 2), nn.Tanh())
print(guide[0], guide[3])
walking = Adam(guide.parameters(), lr=0.02, betas=(0.4, 0.95))
walker = huts[:5]
for hour in range(3):
    walking.zero_grad()
    walker = walker.detach() + guide(walker.detach())
    height = terrain(walker).mean()
    height.backward()
    walking.step()
    print("hour %d: at %f" % (hour, height.item()))
print(sum(weight.numel() for weight in guide.parameters() if weight.requires_grad))
print(guide[3].num_batches_tracked)
