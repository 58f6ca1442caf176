import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
q_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = copy.deepcopy(q_net)
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-2)
history = []

for step in range(80):
    state, next_state = torch.randn(32, 4), torch.randn(32, 4)
    action = torch.randint(2, (32, 1))
    reward = state[:, :1] * (action * 2 - 1)
    q = q_net(state).gather(1, action)
    with torch.no_grad():
        target = reward + 0.5 * target_net(next_state).max(dim=1, keepdim=True).values
    loss = F.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(q_net.parameters(), 100)
    optimizer.step()
    history.append(loss.item())
    if step % 10 == 0:
        target_net.load_state_dict(q_net.state_dict())
