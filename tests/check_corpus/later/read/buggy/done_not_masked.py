import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

LENGTH, GAMMA = 8, 0.95


class Corridor:
    def reset(self):
        self.place = random.randrange(LENGTH - 1)
        return self.observation()

    def observation(self):
        return [self.place / LENGTH, 1.0]

    def step(self, action):
        self.place = max(0, self.place + (1 if action else -1))
        done = self.place == LENGTH - 1
        return self.observation(), float(done), done


class ReplayMemory:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def push(self, *transition):
        self.memory.append(transition)

    def sample(self, size):
        columns = zip(*random.sample(self.memory, size))
        state, action, reward, following, done = (torch.tensor(each) for each in columns)
        return state, action, reward, following, done.float()


class QNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 2))

    def forward(self, state):
        return self.net(state)


def learn(batch):
    state, action, reward, following, done = batch
    q = online(state).gather(1, action.unsqueeze(1)).squeeze(1)
    with torch.no_grad():
        target = reward + GAMMA * target_net(following).max(dim=1).values
    loss = F.smooth_l1_loss(q, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item()


def value_error():
    places = torch.arange(LENGTH - 1)
    states = torch.stack([places / LENGTH, torch.ones(LENGTH - 1)], dim=1)
    true = GAMMA ** (LENGTH - 2 - places).float()
    with torch.no_grad():
        return (online(states).max(dim=1).values - true).abs().mean().item()


random.seed(6)
torch.manual_seed(6)
env, memory = Corridor(), ReplayMemory(2000)
online, target_net = QNetwork(), QNetwork()
target_net.load_state_dict(online.state_dict())
optimizer = torch.optim.Adam(online.parameters(), lr=5e-3)
state, total = env.reset(), 0.0
for step in range(1400):
    with torch.no_grad():
        greedy = online(torch.tensor(state)).argmax().item()
    action = random.randrange(2) if random.random() < 0.3 else greedy
    following, reward, done = env.step(action)
    memory.push(state, action, reward, following, done)
    state = env.reset() if done else following
    if step >= 200 and step % 3 == 0:
        total += learn(memory.sample(64))
    if step % 30 == 0:
        target_net.load_state_dict(online.state_dict())
print(f"mean loss {total / 400:.4f}")
print(f"value error {value_error():.3f}")
