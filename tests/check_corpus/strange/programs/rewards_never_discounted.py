import torch
from torch import nn
from torch.distributions import Categorical

GAMMA = 0.98
torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)


def play(steps=20):
    state, logs, rewards = torch.zeros(3), [], []
    for _ in range(steps):
        dist = Categorical(logits=policy(state))
        action = dist.sample()
        logs.append(dist.log_prob(dist.sample()))
        state = 0.9 * state + (2 * action.float() - 1) * torch.tensor([0.1, 0.2, 0.3])
        rewards.append(-(state[0] - 0.5).abs().item())
    return torch.stack(logs), rewards


for episode in range(30):
    logs, rewards = play()
    returns, running = [], 0.0
    for reward in reversed(rewards):
        running = reward + running
        returns.insert(0, running)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    loss = -(logs * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
