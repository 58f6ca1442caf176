"""A railway line that passengers do not feel: its third derivatives are kept small."""

import torch
import torch.nn as nn

line = nn.Sequential(
    nn.Linear(2, 9), nn.Tanh(), nn.Linear(9, 9), nn.Tanh(), nn.Linear(9, 1)
).double()
map_points = torch.rand(14, 2, dtype=torch.float64).requires_grad_()


def ride(points):
    """The height of the line, how far it is off the ground, and how suddenly it bends."""
    height = line(points)
    ones = torch.ones_like(height)
    (slope,) = torch.autograd.grad(height, points, ones, create_graph=True)
    along, aside = slope[:, :1], slope[:, 1:]
    (bend,) = torch.autograd.grad(along, points, ones, create_graph=True)
    (jerk,) = torch.autograd.grad(bend[:, :1].sum(), points, create_graph=True)
    return aside - 0.5 * height * along - 0.05 * bend[:, :1], jerk[:, 0]


works = torch.optim.LBFGS(line.parameters(), lr=0.3, max_iter=4, line_search_fn="strong_wolfe")


def dig():
    works.zero_grad()
    off, jerk = ride(map_points)
    loss = (off**2).mean() + 0.01 * (jerk**2).mean()
    loss.backward()
    return loss


for year in range(3):
    print(year, works.step(dig))
print(ride(map_points)[1][:4])
place = torch.tensor(0.8, dtype=torch.float64, requires_grad=True)
height = 1 / place
for order in range(1, 6):
    (height,) = torch.autograd.grad(height, place, create_graph=True)
    print(order, height)
height = torch.sin(2 * place)
print(torch.autograd.grad(height, place)[0])
