import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def true_step(state, action):
    speed = 0.9 * state[:, 1:] + 0.3 * action - 0.1 * torch.sin(3 * state[:, :1])
    return torch.cat([state[:, :1] + 0.2 * speed, speed], dim=1)


class Ensemble(nn.Module):
    def __init__(self, members=3, width=32):
        super().__init__()
        self.members = nn.ModuleList(
            nn.Sequential(nn.Linear(3, width), nn.SiLU(), nn.Linear(width, 2))
            for _ in range(members)
        )

    def forward(self, state, action):
        given = torch.cat([state, action], dim=1)
        return torch.stack([state + member(given) for member in self.members])


@torch.no_grad()
def plan(model, state, horizon=8, candidates=100, elite=10, rounds=3):
    mean, std = torch.zeros(horizon), torch.ones(horizon)
    for _ in range(rounds):
        plans = (mean + std * torch.randn(candidates, horizon)).clamp(-1, 1)
        now, cost = state.expand(candidates, -1), torch.zeros(candidates)
        for action in plans.T:
            now = model(now, action.unsqueeze(1)).mean(dim=0)
            cost = cost + (now[:, 0] - 1).square()
        best = plans[cost.topk(elite, largest=False).indices]
        mean, std = best.mean(dim=0), best.std(dim=0) + 0.05
    return mean[:1].view(1, 1)


def play(model, steps=15):
    state, memory = torch.zeros(1, 2), []
    for _ in range(steps):
        action = plan(model, state)
        following = true_step(state, action)
        memory.append((state, action, following))
        state = following
    return memory, (state[0, 0] - 1).abs().item()


torch.manual_seed(29)
states, actions = torch.randn(200, 2), 2 * torch.rand(200, 1) - 1
data = [states, actions, true_step(states, actions)]
model = Ensemble()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for round_number in range(4):
    loader = DataLoader(TensorDataset(*data), batch_size=20, shuffle=True)
    for _ in range(5):
        for state, action, following in loader:
            loss = (model(state, action) - following).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    memory, distance = play(model)
    fresh = [torch.cat(column) for column in zip(*memory)]
    data = [torch.cat(pair) for pair in zip(data, fresh)]
    print(f"round {round_number}: loss {loss.item():.5f}, distance from the goal {distance:.3f}")
