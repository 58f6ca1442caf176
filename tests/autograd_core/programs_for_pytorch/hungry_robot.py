"""A robot that learns from its diary where to look for power; then two smaller lessons."""

import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

robot = nn.Sequential(nn.Linear(3, 10), nn.ReLU(), nn.Linear(10, 4))
calm_self = copy.deepcopy(robot)
calm_self.load_state_dict(robot.state_dict())
adamw = torch.optim.AdamW(robot.parameters(), lr=2e-3, amsgrad=True)
diary = []
for hour in range(9):
    went = torch.tensor([[hour % 4]])
    came_to = None if hour % 3 == 2 else torch.randn(1, 3)  # sometimes it came home
    diary.append((torch.randn(1, 3), went, came_to, torch.tensor([hour / 2])))

places, ways, next_places, power = zip(*diary)
away = torch.tensor([place is not None for place in next_places], dtype=torch.bool)
elsewhere = torch.cat([place for place in next_places if place is not None])
for night in range(4):
    hoped = robot(torch.cat(places)).gather(1, torch.cat(ways))
    later = torch.zeros(9)
    with torch.no_grad():
        next_way = robot(elsewhere).max(1).indices.unsqueeze(1)
        later[away] = calm_self(elsewhere).gather(1, next_way).squeeze(1)
    found = torch.cat(power) + 0.8 * later
    loss = nn.SmoothL1Loss()(hoped, found.unsqueeze(1))
    adamw.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(robot.parameters(), 50)
    adamw.step()
    slow, quick = calm_self.state_dict(), robot.state_dict()
    for name in quick:
        slow[name] = 0.75 * slow[name] + 0.25 * quick[name]
    calm_self.load_state_dict(slow)
    print(night, loss.item())
print(hoped.grad_fn.name(), loss.grad_fn.name(), robot(places[0]).max(1)[1].view(1, 1))
print(robot(torch.cat(places)).max(1).values)

urges = torch.randn(6, 4, requires_grad=True)
did = torch.tensor([3, 0, 0, 2, 1, 3])
usual = F.log_softmax(urges.detach() - 0.2 * torch.randn(6, 4), -1)
bolder = (F.log_softmax(urges, -1)[torch.arange(6), did] - usual[range(6), did]).exp()
praise = torch.randn(6)
heeded = torch.min(bolder * praise, torch.clamp(bolder, 0.9, 1 + 0.1) * praise)
(-heeded.mean()).backward()
print(urges.grad)

battery, levels = 0.0, []
for used in (3.0, 0.5, 2.0, 1.0)[::-1]:
    battery = used + 0.6 * battery
    levels.insert(0, battery)
levels = torch.tensor(levels)
print((levels - levels.mean()) / (levels.std() + 1e-6))

try:
    calm_self.load_state_dict({"2.bias": torch.zeros(7)})
except RuntimeError as error:
    print(error)
print(calm_self.load_state_dict({}, strict=False))
