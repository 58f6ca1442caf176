import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(15)
policy = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
lengths = [6, 4, 1, 5, 3]

for episode, length in enumerate(lengths):
    log_probs, rewards = [], []
    for _ in range(length):
        state = torch.randn(2)
        dist = Categorical(logits=policy(state))
        action = dist.sample()
        log_probs.append(dist.log_prob(action))
        rewards.append(1.0 if (state[0] > 0) == bool(action) else 0.0)
    returns = torch.tensor([sum(rewards[t:]) for t in range(length)])
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    loss = -(torch.stack(log_probs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(episode, sum(rewards), loss.item())
