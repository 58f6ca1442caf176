import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(52)
actor = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
actor_optim = torch.optim.Adam(actor.parameters(), lr=1e-2)
critic_optim = torch.optim.Adam(critic.parameters(), lr=1e-2)

for episode in range(30):
    state = torch.randn(20, 3)
    dist = Categorical(logits=actor(state))
    action = dist.sample()
    reward = (state[:, 0] * (2 * action - 1)).sign()
    advantage = reward - critic(state).squeeze(1)

    actor_loss = -(dist.log_prob(action) * advantage).mean()
    critic_loss = advantage.pow(2).mean()
    actor_optim.zero_grad()
    critic_optim.zero_grad()
    (actor_loss + critic_loss).backward()
    actor_optim.step()
    critic_optim.step()
print(reward.mean().item())
