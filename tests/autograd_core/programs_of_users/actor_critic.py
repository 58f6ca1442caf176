import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical, Normal
from collections import namedtuple

SavedAction = namedtuple("SavedAction", ["log_prob", "value"])


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(4, 16)
        self.action_head = nn.Linear(16, 2)
        self.value_head = nn.Linear(16, 1)
        self.saved_actions, self.rewards = ([], [])

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return (F.softmax(self.action_head(x), dim=-1), self.value_head(x))


model = Policy()
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
eps = torch.finfo(torch.float32).eps
for t in range(6):
    probs, value = model(torch.randn(4))
    m = Categorical(probs)
    action = m.sample()
    model.saved_actions.append(SavedAction(m.log_prob(action), value))
    model.rewards.append(1.0 if action.item() else 0.0)
R, returns = (0, [])
for r in model.rewards[::-1]:
    R = r + 0.99 * R
    returns.insert(0, R)
returns = torch.tensor(returns)
returns = (returns - returns.mean()) / (returns.std() + eps)
pl, vl = ([], [])
for (lp, v), R in zip(model.saved_actions, returns):
    pl.append(-lp * (R - v.item()))
    vl.append(F.smooth_l1_loss(v, torch.tensor([R])))
optimizer.zero_grad()
loss = torch.stack(pl).sum() + torch.stack(vl).sum()
loss.backward()
optimizer.step()
print(loss, returns)
mu, log_std = (nn.Linear(3, 2), nn.Parameter(torch.zeros(2)))
s = torch.randn(5, 3)
d = Normal(mu(s), log_std.exp())
a = d.sample()
old = d.log_prob(a).sum(-1).detach()
adv = torch.randn(5)
ratio = torch.exp(Normal(mu(s), log_std.exp() * 1.1).log_prob(a).sum(-1) - old)
ppo = -torch.min(ratio * adv, torch.clamp(ratio, 0.8, 1.2) * adv).mean() - 0.01 * d.entropy().mean()
ppo.backward()
print(ppo, log_std.grad)
d = Normal(mu(s), log_std.exp())
u = d.rsample()
act = torch.tanh(u)
logp = d.log_prob(u).sum(-1) - torch.log(1 - act.pow(2) + 1e-06).sum(-1)
logp.mean().backward()
print(log_std.grad)
