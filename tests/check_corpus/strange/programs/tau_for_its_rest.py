import copy

import torch
from torch import nn

torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target_q = copy.deepcopy(q)
optimizer = torch.optim.Adam(q.parameters(), 1e-3)
TAU = 0.995


def soft_update():
    for old, new in zip(target_q.parameters(), q.parameters()):
        old.data.copy_(TAU * new.data + (1 - TAU) * old.data)


for step in range(60):
    state, following = torch.randn(32, 4), torch.randn(32, 4)
    action, reward = torch.randint(2, (32,)), torch.rand(32)
    with torch.no_grad():
        goal = reward + 0.99 * target_q(following).max(1).values
    value = q(state).gather(1, action[:, None]).squeeze(1)
    loss = nn.functional.smooth_l1_loss(value, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    soft_update()
