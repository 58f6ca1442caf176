"""Seats of a hall are taken, freed and counted in place; the gradients follow every change."""

import torch


def attempt(action):
    try:
        print("went well", action())
    except RuntimeError as error:
        print(error)


prices = (torch.arange(8.0).reshape(2, 4) + 1).requires_grad_()
hall = prices.clone()
hall[1] = 0
hall[:, 2] *= 5
hall[hall > 12] = -3
hall[0, ...] += prices[1]
print(hall, hall.grad_fn.name())
hall.sum().backward()
print(prices.grad)

row = torch.ones(4, requires_grad=True)
attempt(lambda: row.mul_(2))
attempt(lambda: row[1].add_(1))
attempt(lambda: row.__setitem__(2, 0.0))

twice = row * 2
grown = twice.exp()
twice.sub_(1)  # exp keeps what it gave, not what it got
grown.sum().backward()
print(row.grad)
twice = row * 2
cubed = twice.pow(3)
twice.sub_(1)
attempt(lambda: cubed.sum().backward())
likely = (row * 1).sigmoid()
likely.mul_(3)
attempt(lambda: likely.sum().backward())

empty = torch.zeros(6, requires_grad=True)
floor = empty * 1
left, right = floor.split(3)
attempt(lambda: left.sub_(1))
middle = floor[2:5]
middle.mul_(4)
print(middle.grad_fn.name(), floor.grad_fn.name(), floor._version, middle._base is floor)
(floor * torch.linspace(1.0, 6.0, 6)).sum().backward()
print(empty.grad)

sold = torch.zeros(4, requires_grad=True)
with torch.no_grad():
    sold[2] = 7.0
    first_two = sold[:2]
    sold += 0.5
print(sold, sold._version, first_two)

plan = torch.zeros(3, 3)
aisle = torch.ones(3, requires_grad=True)
plan.diagonal().copy_(aisle)
print(plan, plan.requires_grad)
plan.masked_fill_(torch.eye(3).bool(), 0.25)
moved = plan.index_add(0, torch.tensor([1, 2]), torch.ones(2, 3) * aisle)
moved.scatter_(1, torch.tensor([[2], [0], [1]]), -2.0)
moved.sum().backward()
print(aisle.grad, moved)

stage = torch.rand(2, 3, requires_grad=True)
apart = stage.t().detach()
apart.zero_()
print(stage, stage._version)
attempt(lambda: (stage.cos() * stage).detach_().backward())
lamps = torch.ones(2, requires_grad=True)
lamps.data.fill_(6)
print(lamps, lamps._version)
attempt(lambda: lamps.resize_(5))
attempt(lambda: torch.ones(2, dtype=torch.int64).requires_grad_())
attempt(lambda: torch.ones(2, dtype=torch.int64).add_(0.5))
attempt(lambda: torch.ones(4).add_(torch.ones(2, 4)))
applause = torch.relu(torch.randn(3, requires_grad=True))
applause = applause + 2
applause.sum().backward()
print("relu keeps its own result")
