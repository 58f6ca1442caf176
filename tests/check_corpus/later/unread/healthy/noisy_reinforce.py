import torch
from torch import nn
from torch.distributions import Categorical


class NoisyGrid:
    """Find the corner; rewards are so noisy that single returns say little."""

    def __init__(self, count, size=4, limit=8):
        self.count, self.size, self.limit = count, size, limit
        self.moves = torch.tensor([[0, 1], [1, 0], [0, -1], [-1, 0]])

    def reset(self):
        self.place = torch.zeros(self.count, 2, dtype=torch.long)
        self.now = 0
        return self.observation()

    def observation(self):
        return nn.functional.one_hot(self.place, self.size).flatten(1).float()

    def step(self, action):
        self.place = (self.place + self.moves[action]).clamp(0, self.size - 1)
        self.now += 1
        arrived = (self.place == self.size - 1).all(dim=1)
        reward = arrived.float() - 0.05 + 0.5 * torch.randn(self.count)
        return self.observation(), reward, arrived, self.now == self.limit


class Policy(nn.Module):
    def __init__(self, inputs=8, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, 4))

    def forward(self, observation):
        return Categorical(logits=self.net(observation))


def episode(env, policy):
    observation, over = env.reset(), False
    log_probs, rewards, entropies = [], [], []
    while not over:
        choice = policy(observation)
        action = choice.sample()
        observation, reward, arrived, over = env.step(action)
        log_probs.append(choice.log_prob(action))
        entropies.append(choice.entropy())
        rewards.append(reward)
    togo = torch.stack(rewards).flip(0).cumsum(dim=0).flip(0)
    return torch.stack(log_probs), togo, torch.stack(entropies), arrived


torch.manual_seed(30)
env, policy = NoisyGrid(48), Policy()
optimizer = torch.optim.RMSprop(policy.parameters(), lr=0.01)
for update in range(120):
    log_probs, togo, entropies, arrived = episode(env, policy)
    advantage = togo - togo.mean(dim=1, keepdim=True)
    advantage = advantage / (advantage.std() + 1e-6)
    loss = -(log_probs * advantage).mean() - 0.01 * entropies.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 30 == 29:
        print(f"update {update}: loss {loss.item():+.3f}, arrived {arrived.float().mean():.3f}")
