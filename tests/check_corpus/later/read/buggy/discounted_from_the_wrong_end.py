import torch
from torch import nn
from torch.distributions import Categorical


class DelayedReward:
    """The first action decides, and its reward comes in the last step."""

    def __init__(self, environments=32, steps=6, cues=4):
        self.environments, self.steps, self.cues = environments, steps, cues

    def reset(self):
        self.now = 0
        self.cue = torch.randint(self.cues, (self.environments,))
        return self.observation()

    def observation(self):
        cue = nn.functional.one_hot(self.cue, self.cues).float()
        time = torch.full((self.environments, 1), self.now / self.steps)
        return torch.cat([cue, time], dim=1)

    def step(self, action):
        if self.now == 0:
            self.chosen = action
        self.now += 1
        done = self.now == self.steps
        reward = (self.chosen == self.cue).float() if done else torch.zeros(self.environments)
        return self.observation(), reward, done


class Policy(nn.Module):
    def __init__(self, inputs=5, actions=4):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, 32), nn.ReLU(), nn.Linear(32, actions))

    def forward(self, observation):
        return Categorical(logits=self.layers(observation))


def rollout(env, policy):
    observation, done = env.reset(), False
    log_probs, rewards = [], []
    while not done:
        distribution = policy(observation)
        action = distribution.sample()
        log_probs.append(distribution.log_prob(action))
        observation, reward, done = env.step(action)
        rewards.append(reward)
    return torch.stack(log_probs), rewards


def discounted_returns(rewards, gamma=0.98):
    returns = []
    running = torch.zeros_like(rewards[0])
    for reward in rewards:
        running = reward + gamma * running
        returns.append(running)
    return torch.stack(returns)


torch.manual_seed(7)
env, policy = DelayedReward(), Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)
scores = []
for update in range(200):
    log_probs, rewards = rollout(env, policy)
    returns = discounted_returns(rewards)
    advantage = returns - returns.mean(dim=1, keepdim=True)
    loss = -(log_probs * advantage).sum(dim=0).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scores.append(rewards[-1].mean().item())
    if update % 50 == 49:
        print(f"update {update}: reward {sum(scores[-20:]) / 20:.3f}")
