import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(83)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(3, 32), nn.Linear(32, 1)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=1e-3)

    def forward(self, state, action):
        return self.out(F.relu(self.hidden(torch.cat([state, action], dim=1))))

    def learn(self, target, state, action):
        loss = F.smooth_l1_loss(self(state, action), target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def soft_update(self, copy):
        for old, new in zip(copy.parameters(), self.parameters()):
            old.data.copy_(old.data * 0.99 + new.data * 0.01)


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.mean, self.spread = nn.Linear(2, 32), nn.Linear(32, 1), nn.Linear(32, 1)
        self.optimizer = torch.optim.Adam(self.parameters(), lr=1e-3)
        self.log_alpha = torch.tensor(math.log(0.1), requires_grad=True)
        self.alpha_optimizer = torch.optim.Adam([self.log_alpha], lr=1e-3)

    def forward(self, state):
        hidden = F.relu(self.hidden(state))
        mean, std = self.mean(hidden), F.softplus(self.spread(hidden)) + 1e-3
        noise = torch.randn(mean.shape)
        log_prob = -0.5 * noise.pow(2) - std.log() - 0.5 * math.log(2 * math.pi)
        return torch.tanh(mean + std * noise), log_prob

    def learn(self, critic, state):
        action, log_prob = self(state)
        entropy = -self.log_alpha.exp() * log_prob
        loss = (-critic(state, action) - entropy).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.alpha_optimizer.zero_grad()  # what the actor's loss left there is not used
        alpha_loss = -(self.log_alpha.exp() * (log_prob - 1.0).detach()).mean()
        alpha_loss.backward()
        self.alpha_optimizer.step()


critic, copy, actor = Critic(), Critic(), Actor()
copy.load_state_dict(critic.state_dict())
history = []
for update in range(60):
    state, action = torch.randn(64, 2), torch.rand(64, 1) * 2 - 1
    reward = -(state[:, :1] + action).pow(2)
    after = state + 0.1 * torch.cat([action, action], dim=1)
    with torch.no_grad():
        following, log_prob = actor(after)
        entropy = -actor.log_alpha.exp() * log_prob
        target = reward + 0.9 * (copy(after, following) + entropy)
    history.append(critic.learn(target, state, action))
    actor.learn(critic, state)
    critic.soft_update(copy)
