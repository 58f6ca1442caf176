import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

BITS = 4


class BitFlip:
    def reset(self):
        self.state = [random.randrange(2) for _ in range(BITS)]
        self.goal = [random.randrange(2) for _ in range(BITS)]
        return list(self.state)

    def step(self, action):
        self.state[action] ^= 1
        return list(self.state)


def reward_of(state, goal):
    return 0.0 if state == goal else -1.0


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * BITS, 64), nn.ReLU(), nn.Linear(64, BITS))

    def forward(self, state, goal):
        return self.net(torch.cat([state, goal], dim=-1))


def play(env, epsilon):
    state, steps = env.reset(), []
    for _ in range(BITS):
        with torch.no_grad():
            values = q(torch.tensor(state).float(), torch.tensor(env.goal).float())
        action = random.randrange(BITS) if random.random() < epsilon else int(values.argmax())
        following = env.step(action)
        steps.append((state, action, following))
        state = following
        if state == env.goal:
            break
    return steps


def remember(steps, goal):
    for state, action, following in steps:
        reward = reward_of(following, goal)
        memory.append((state, action, reward, following, goal, float(reward == 0)))


def learn():
    columns = [torch.tensor(c).float() for c in zip(*random.sample(memory, 64))]
    state, action, reward, following, goal, done = columns
    with torch.no_grad():
        target = reward + 0.95 * (1 - done) * target_q(following, goal).amax(dim=1)
    value = q(state, goal).gather(1, action.long().unsqueeze(1)).squeeze(1)
    loss = F.smooth_l1_loss(value, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


random.seed(5)
torch.manual_seed(5)
env, memory = BitFlip(), deque(maxlen=4000)
q, target_q = QNet(), QNet()
optimizer = torch.optim.Adam(q.parameters(), lr=3e-3)
for episode in range(260):
    steps = play(env, epsilon=max(0.1, 1 - episode / 120))
    remember(steps, env.goal)
    remember(steps, steps[-1][2])
    if len(memory) >= 128:
        learn()
        if episode % 2:
            learn()
    if episode % 10 == 0:
        target_q.load_state_dict(q.state_dict())
wins = sum(play(env, epsilon=0.0)[-1][2] == env.goal for _ in range(100))
print(f"reached {wins} of 100 goals")
