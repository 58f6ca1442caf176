"""How warm a wall is at each depth and hour, from the law of heat and what is felt inside."""

import torch
import torch.nn as nn


class Wall(nn.Module):
    def __init__(self, bricks=16):
        super().__init__()
        self.bricks = nn.Sequential(
            nn.Linear(2, bricks),
            nn.Tanh(),
            nn.Linear(bricks, bricks),
            nn.Tanh(),
            nn.Linear(bricks, 1),
        )
        self.bricks.apply(self.built)

    @staticmethod
    def built(part):
        if isinstance(part, nn.Linear):
            nn.init.xavier_normal_(part.weight)
            part.bias.data.fill_(0.1)

    def forward(self, depth, hour):
        return self.bricks(torch.cat([depth, hour], dim=1))


def slope(of, by):
    ones = torch.ones_like(of)
    (found,) = torch.autograd.grad(of, by, grad_outputs=ones, retain_graph=True, create_graph=True)
    return found


wall = Wall()
depth = torch.linspace(0, 1, 12).view(-1, 1).requires_grad_(True)
hour = torch.rand(12, 1, requires_grad=True)
spread = 0.2 / torch.pi


def unlike_heat():
    """How far the wall is from warming up where it bends, and cooling a little everywhere."""
    warm = wall(depth, hour)
    return slope(warm, hour) - spread * slope(slope(warm, depth), depth) + 0.1 * warm**2


adam = torch.optim.Adam(wall.parameters(), lr=2e-3)
for day in range(3):
    adam.zero_grad()
    morning = wall(depth, torch.zeros_like(hour)) - torch.cos(torch.pi * depth)
    loss = (unlike_heat() ** 2).mean() + morning.square().mean()
    loss.backward()
    adam.step()
    print(day, loss.item())
warm = wall(depth, hour)
bend = slope(slope(warm, depth), depth)
print(bend.mean(), slope(bend, depth).mean(), slope(bend, depth).grad_fn is not None)

exact = torch.optim.LBFGS(
    wall.parameters(), lr=0.8, max_iter=4, history_size=5, line_search_fn="strong_wolfe"
)


def measured():
    exact.zero_grad()
    loss = unlike_heat().square().mean()
    loss.backward()
    return loss


print(exact.step(measured))


def bumps(surface, places):
    """How much a surface bends, over all its directions."""
    places = places.detach().requires_grad_()
    (down,) = torch.autograd.grad(surface(places).sum(), places, create_graph=True)
    total = 0
    for way in range(places.shape[1]):
        bent = torch.autograd.grad(down[:, way].sum(), places, create_graph=True)[0]
        total += bent[:, way]
    return total


print(bumps(lambda p: (p**2).sum(1) * torch.cos(p[:, 1]), torch.randn(4, 3)))
