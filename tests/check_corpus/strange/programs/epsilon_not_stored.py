import torch
from torch import nn

torch.manual_seed(0)


class Agent:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
        self.epsilon = 1.0
        self.optimizer = torch.optim.Adam(self.net.parameters(), 1e-3)

    def act(self, state):
        if torch.rand(()) < self.epsilon:
            return torch.randint(2, ()).item()
        return self.net(state).argmax().item()

    def decay_epsilon(self):
        epsilon = max(0.05, self.epsilon * 0.99)

    def learn(self, s, a, r, s2):
        with torch.no_grad():
            goal = r + 0.9 * self.net(s2).max(1).values
        loss = (self.net(s).gather(1, a[:, None]).squeeze(1) - goal).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


agent = Agent()
state = torch.randn(4)
memory = []
for step in range(80):
    action = agent.act(state)
    following = 0.9 * state + 0.3 * torch.randn(4)
    memory.append((state, action, following[0].item(), following))
    state = following
    agent.decay_epsilon()
    if len(memory) >= 32:
        batch = [memory[i] for i in torch.randint(len(memory), (32,)).tolist()]
        s, a, r, s2 = zip(*batch)
        agent.learn(torch.stack(s), torch.tensor(a), torch.tensor(r), torch.stack(s2))
