import torch
import torch.nn.functional as F
from torch import nn

PLACES, GAMMA, STEPS = 12, 0.9, 4


class Conveyor:
    """Things move on by one place; at the end they are worth 1, and a new one begins."""

    def __init__(self, count):
        self.place = torch.randint(0, PLACES, (count,))

    def step(self):
        reward = (self.place == PLACES - 1).float() + 0.02 * torch.randn(len(self.place))
        before = self.place
        self.place = (self.place + 1) % PLACES
        return before, reward


def true_values():
    away = PLACES - 1 - torch.arange(PLACES).float()
    return GAMMA**away / (1 - GAMMA**PLACES)


class ValueNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(PLACES, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, place):
        return self.net(F.one_hot(place, PLACES).float()).squeeze(-1)


def rollout(env, steps):
    places, rewards = zip(*(env.step() for _ in range(steps)))
    return torch.stack(places), torch.stack(rewards), env.place


def n_step_targets(rewards, bootstrap):
    targets = torch.zeros_like(rewards[0])
    for power, reward in enumerate(rewards):
        targets = targets + GAMMA**power * reward
    return targets + GAMMA * bootstrap


@torch.no_grad()
def value_error(net):
    return (net(torch.arange(PLACES)) - true_values()).abs().mean().item()


torch.manual_seed(37)
env, value, slow = Conveyor(32), ValueNet(), ValueNet()
slow.load_state_dict(value.state_dict())
optimizer = torch.optim.Adam(value.parameters(), lr=0.01)
for update in range(300):
    places, rewards, following = rollout(env, STEPS)
    with torch.no_grad():
        targets = n_step_targets(rewards, slow(following))
    loss = F.mse_loss(value(places[0]), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if update % 10 == 0:
        slow.load_state_dict(value.state_dict())
    if update % 60 == 59:
        print(f"update {update}: loss {loss.item():.4f}, error {value_error(value):.3f}")
