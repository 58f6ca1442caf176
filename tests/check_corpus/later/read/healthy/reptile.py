import copy

import torch
import torch.nn.functional as F
from torch import nn


class Wave:
    def __init__(self):
        self.height = float(1 + 2 * torch.rand(()))
        self.phase = float(3 * torch.rand(()))

    def sample(self, count):
        x = 6 * torch.rand(count, 1) - 3
        return x, self.height * torch.sin(x + self.phase)


class Net(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, x):
        return self.layers(x)


def adapt(model, x, y, steps=5):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03)
    for _ in range(steps):
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def evaluate(model, tasks=10):
    total = 0.0
    for _ in range(tasks):
        task, learner = Wave(), copy.deepcopy(model)
        adapt(learner, *task.sample(10))
        x, y = task.sample(50)
        with torch.no_grad():
            total += F.mse_loss(learner(x), y).item()
    return total / tasks


torch.manual_seed(15)
model = Net()
before = evaluate(model)
for iteration in range(60):
    learner = copy.deepcopy(model)
    loss = adapt(learner, *Wave().sample(20))
    rate = 0.3 * (1 - iteration / 60)
    with torch.no_grad():
        for ours, theirs in zip(model.parameters(), learner.parameters()):
            ours.add_(theirs - ours, alpha=rate)
    if iteration % 20 == 19:
        print(f"iteration {iteration}: loss of the last task {loss:.3f}")
print(f"error after five steps: {before:.3f} before, {evaluate(model):.3f} after")
