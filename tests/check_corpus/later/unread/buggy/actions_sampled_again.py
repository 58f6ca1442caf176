import torch
from torch import nn
from torch.distributions import Normal


class Target:
    """Throw as far as the flag stands."""

    def observe(self, count):
        self.flag = 2 * torch.rand(count, 1) - 1
        return torch.cat([self.flag, self.flag**2], dim=1)

    def reward(self, action):
        return -(action - (0.5 + self.flag)).abs().squeeze(1)


class GaussianPolicy(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 1))
        self.log_std = nn.Parameter(torch.tensor(-0.5))

    def forward(self, observation):
        return Normal(self.body(observation), self.log_std.exp().clamp(0.1, 1.0))

    def act(self, observation):
        with torch.no_grad():
            return self(observation).sample()


class ValueNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, observation):
        return self.net(observation).squeeze(1)


def update(observation, reward):
    value = critic(observation)
    advantage = (reward - value).detach()
    distribution = actor(observation)
    action = distribution.sample()
    log_prob = distribution.log_prob(action).squeeze(1)
    actor_loss = -(log_prob * advantage).mean()
    critic_loss = nn.functional.mse_loss(value, reward)
    optimizer.zero_grad()
    (actor_loss + critic_loss).backward()
    optimizer.step()


@torch.no_grad()
def evaluate():
    observation = env.observe(500)
    return env.reward(actor(observation).mean).mean().item()


torch.manual_seed(37)
env, actor, critic = Target(), GaussianPolicy(), ValueNet()
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=5e-3)
for iteration in range(300):
    observation = env.observe(64)
    action = actor.act(observation)
    reward = env.reward(action)
    update(observation, reward)
    if iteration % 60 == 59:
        print(f"iteration {iteration}: reward {evaluate():.3f}")
