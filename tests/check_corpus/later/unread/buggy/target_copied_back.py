import random

import torch
import torch.nn.functional as F
from torch import nn


class Bandits:
    """Two steps: the first chooses the table, the second the machine."""

    def __init__(self):
        self.pay = torch.tensor([[0.2, 0.1, 0.3], [0.0, 1.0, 0.1], [0.4, 0.2, 0.0]])

    def batch(self, count):
        first = torch.rand(count) < 0.5
        state = torch.where(first, 0, torch.randint(1, 4, (count,)))
        action = torch.randint(0, 3, (count,))
        reward = torch.where(first, 0.0, self.pay[(state - 1).clamp(min=0), action])
        reward = reward + 0.05 * torch.randn(count)
        following = torch.where(first, action + 1, 0)
        return state, action, reward, following, (~first).float()


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(4, 16)
        self.net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 3))

    def forward(self, state):
        return self.net(self.embed(state))


class DQN:
    def __init__(self, every=20):
        self.online, self.target = QNetwork(), QNetwork()
        self.optimizer = torch.optim.Adam(self.online.parameters(), lr=5e-3)
        self.every, self.updates = every, 0

    def synchronise(self):
        self.online.load_state_dict(self.target.state_dict())

    def update(self, state, action, reward, following, done):
        q = self.online(state).gather(1, action.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            future = self.target(following).amax(dim=1)
            goal = reward + 0.9 * (1 - done) * future
        loss = F.mse_loss(q, goal)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        if self.updates % self.every == 0:
            self.synchronise()
        return loss.item()


random.seed(38)
torch.manual_seed(38)
env, agent = Bandits(), DQN()
for step in range(330):
    loss = agent.update(*env.batch(64))
    if step % 60 == 59:
        print(f"step {step}: loss {loss:.4f}")
with torch.no_grad():
    values = agent.online(torch.arange(4))
true = torch.cat([0.9 * env.pay.amax(dim=1)[None], env.pay])
print(f"error of the values {(values - true).abs().mean().item():.3f}")
