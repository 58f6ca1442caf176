import torch
import torch.nn as nn
from torch.distributions import Normal

torch.manual_seed(10)


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 16)
        self.mean = nn.Linear(16, 1)
        self.log_std = nn.Linear(16, 1)

    def forward(self, state):
        h = torch.tanh(self.body(state))
        return Normal(self.mean(h), self.log_std(h).clamp(-4, 1).exp())


policy, alpha = Policy(), 0.01
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
for step in range(30):
    state = torch.randn(64, 3)
    dist = policy(state)
    action = dist.sample()
    q_value = -(action - state.sum(dim=1, keepdim=True)).pow(2)
    loss = -(q_value + alpha * dist.entropy()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
