import random

import torch
import torch.nn as nn
import torch.nn.functional as F


def step_of(place, action):
    place = max(0, min(7, place + (1 if action else -1)))
    return place, (1.0 if place == 7 else -0.05), place == 7


def seen(place):
    return F.one_hot(torch.tensor(place), 8).float()


torch.manual_seed(78)
random.seed(78)
q = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
target = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=5e-3)
memory, history = [], []
for episode in range(25):
    place, over, steps = 0, False, 0
    while not over and steps < 30:
        explores = random.random() < max(0.1, 1 - episode / 12)
        with torch.no_grad():
            action = random.randrange(2) if explores else int(q(seen(place)).argmax())
        after, reward, over = step_of(place, action)
        memory.append((place, action, reward, after, over))
        place, steps = after, steps + 1
        if len(memory) < 32 or steps % 3:
            continue
        batch = random.sample(memory, 32)
        states = torch.stack([seen(each[0]) for each in batch])
        actions = torch.tensor([each[1] for each in batch])
        rewards = torch.tensor([each[2] for each in batch])
        with torch.no_grad():
            following = torch.stack([seen(each[3]) for each in batch])
            alive = torch.tensor([0.0 if each[4] else 1.0 for each in batch])
            wanted = rewards + 0.95 * alive * target(following).max(dim=1).values
        said = q(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(said, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if episode % 3 == 2:
        target.load_state_dict(q.state_dict())
    history.append(steps)
