import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

PLACES = 10


class River:
    """A little reward at the left bank, ten times as much at the right one."""

    def reset(self):
        self.place, self.steps = 1, 0
        return self.place

    def step(self, action):
        self.place += 1 if action == 1 else -1
        self.steps += 1
        if self.place <= 0:
            return 0, 0.1, True
        if self.place >= PLACES - 1:
            return PLACES - 1, 1.0, True
        return self.place, 0.0, self.steps >= 40


class Agent:
    def __init__(self, gamma=0.95, start=1.0, end=0.02, decay=0.9):
        self.q = nn.Sequential(nn.Linear(PLACES, 32), nn.ReLU(), nn.Linear(32, 2))
        self.target = nn.Sequential(nn.Linear(PLACES, 32), nn.ReLU(), nn.Linear(32, 2))
        self.optimizer = torch.optim.Adam(self.q.parameters(), lr=3e-3)
        self.memory = deque(maxlen=2000)
        self.gamma, self.epsilon, self.end, self.decay = gamma, start, end, decay

    def encode(self, place):
        return F.one_hot(torch.as_tensor(place), PLACES).float()

    @torch.no_grad()
    def act(self, place):
        self.epsilon = max(self.end, self.epsilon * self.decay)
        if random.random() < self.epsilon:
            return random.randrange(2)
        return int(self.q(self.encode(place)).argmax())

    def learn(self):
        place, action, reward, following, done = map(
            torch.tensor, zip(*random.sample(self.memory, 32))
        )
        value = self.q(self.encode(place)).gather(1, action[:, None]).squeeze(1)
        with torch.no_grad():
            future = self.target(self.encode(following)).amax(dim=1)
        loss = F.mse_loss(value, reward + self.gamma * future * ~done)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


random.seed(36)
torch.manual_seed(36)
env, agent, scores = River(), Agent(), []
for episode in range(150):
    place, done, score = env.reset(), False, 0.0
    while not done:
        action = agent.act(place)
        following, reward, done = env.step(action)
        agent.memory.append((place, action, reward, following, done))
        place, score = following, score + reward
    if len(agent.memory) > 64:
        agent.learn()
        agent.learn()
    if episode % 5 == 0:
        agent.target.load_state_dict(agent.q.state_dict())
    scores.append(score)
    if episode % 50 == 49:
        print(
            f"episode {episode}: epsilon {agent.epsilon:.2f}, reward {sum(scores[-30:]) / 30:.3f}"
        )
