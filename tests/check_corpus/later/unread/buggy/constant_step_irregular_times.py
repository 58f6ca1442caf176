import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Trajectories(Dataset):
    """A damped swing, seen at twelve irregular times."""

    def __init__(self, count, times):
        phase, height = 6.28 * torch.rand(count, 1), 0.5 + torch.rand(count, 1)
        swing = (-0.3 * times).exp() * height
        place = swing * torch.cos(2 * times + phase)
        speed = swing * -2 * torch.sin(2 * times + phase) - 0.3 * place
        self.states = torch.stack([place, speed], dim=-1)

    def __len__(self):
        return len(self.states)

    def __getitem__(self, index):
        return self.states[index]


class Dynamics(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 2))

    def forward(self, state):
        return self.net(state)


def rk4(field, state, step):
    k1 = field(state)
    k2 = field(state + step / 2 * k1)
    k3 = field(state + step / 2 * k2)
    k4 = field(state + step * k3)
    return state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def odeint(field, state, times):
    step = (times[-1] - times[0]) / (len(times) - 1)
    states = [state]
    for _ in times[1:]:
        state = rk4(field, state, step)
        states.append(state)
    return torch.stack(states, dim=1)


@torch.no_grad()
def validate(model, loader):
    grid = torch.linspace(0, 2, 9)
    truth = Trajectories(len(loader.dataset), grid).states
    return (odeint(model, truth[:, 0], grid) - truth).abs().mean().item()


torch.manual_seed(42)
times = torch.cat([torch.tensor([0.0]), 3 * torch.rand(11).sort().values ** 2])
train = DataLoader(Trajectories(480, times), batch_size=32, shuffle=True)
valid = DataLoader(Trajectories(64, times), batch_size=64)
model = Dynamics()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(6):
    for states in train:
        predicted = odeint(model, states[:, 0], times)
        loss = (predicted - states).square().mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.4f}, error {validate(model, valid):.4f}")
