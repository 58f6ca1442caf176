import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(12)
q_net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target_net = q_net
target_net.load_state_dict(q_net.state_dict())
optimizer = torch.optim.Adam(q_net.parameters(), lr=1e-2)
gamma = 0.9

for step in range(60):
    state, next_state = torch.randn(32, 4), torch.randn(32, 4)
    action = torch.randint(2, (32, 1))
    reward = state[:, :1] * (action * 2 - 1)
    q = q_net(state).gather(1, action)
    with torch.no_grad():
        target = reward + gamma * target_net(next_state).max(dim=1, keepdim=True).values
    loss = F.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        target_net.load_state_dict(q_net.state_dict())
print(loss.item())
