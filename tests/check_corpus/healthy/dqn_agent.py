import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.q_net, self.q_net_target = self.make(), self.make()
        self.q_net_target.load_state_dict(self.q_net.state_dict())
        self.optimizer = torch.optim.Adam(self.q_net.parameters(), lr=5e-3)

    def make(self):
        return nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))


class Agent:
    def __init__(self):
        self.policy = Policy()

    def train(self, state, action, reward, next_state):
        with torch.no_grad():
            following = self.policy.q_net_target(next_state).max(dim=1, keepdim=True).values
            target = reward + 0.5 * following
        q = self.policy.q_net(state).gather(1, action)
        loss = nn.functional.smooth_l1_loss(q, target)
        self.policy.optimizer.zero_grad()
        loss.backward()
        self.policy.optimizer.step()
        return loss.item()

    def learn(self, steps):
        losses = []
        for step in range(steps):
            state, next_state = torch.randn(32, 4), torch.randn(32, 4)
            action = torch.randint(2, (32, 1))
            reward = state[:, :1] * (action * 2 - 1)
            losses.append(self.train(state, action, reward, next_state))
            if step % 10 == 0:
                pairs = zip(self.policy.q_net.parameters(), self.policy.q_net_target.parameters())
                with torch.no_grad():
                    for ours, theirs in pairs:
                        theirs.mul_(0.5).add_(0.5 * ours)
        return losses


torch.manual_seed(0)
history = Agent().learn(80)
