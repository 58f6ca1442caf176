import torch
from torch import nn

torch.manual_seed(13)


class Agent:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 4))
        self.optim = torch.optim.RMSprop(self.net.parameters(), lr=1e-3)

    def learn(self, s, a, r, s2, done):
        q_eval = self.net(s).gather(1, a).squeeze(1)
        q_next = self.net(s2).max(dim=1)[0]
        q_target = r + 0.99 * q_next * (1 - done)
        loss = nn.MSELoss()(q_eval, q_target)
        self.optim.zero_grad()
        loss.backward()
        self.optim.step()
        return q_target


agent = Agent()
for step in range(40):
    s, s2 = torch.randn(16, 3), torch.randn(16, 3)
    done = (torch.rand(16) < 0.1).float()
    target = agent.learn(s, torch.randint(4, (16, 1)), s[:, 0], s2, done)
