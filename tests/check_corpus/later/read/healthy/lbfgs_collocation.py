import torch
from torch import nn

RATE = 2.0


class Net(nn.Module):
    """u(0) = 1 holds by construction."""

    def __init__(self, width=12):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, t):
        return 1 + t * self.net(t)


def residual(model, t):
    u = model(t)
    (slope,) = torch.autograd.grad(u, t, torch.ones_like(u), create_graph=True)
    return slope + RATE * u * (1 - 0.5 * torch.sin(3 * t))


def reference(t, steps=2000):
    u, now, result = 1.0, 0.0, []
    for end in t.flatten().tolist():
        while now < end:
            u -= 1 / steps * RATE * u * (1 - 0.5 * torch.sin(torch.tensor(3 * now)).item())
            now += 1 / steps
        result.append(u)
    return torch.tensor(result).unsqueeze(1)


torch.manual_seed(8)
model = Net()
points = torch.linspace(0, 1, 40).unsqueeze(1).requires_grad_()
optimizer = torch.optim.LBFGS(
    model.parameters(), lr=1.0, max_iter=10, history_size=10, line_search_fn="strong_wolfe"
)
losses = []


def closure():
    optimizer.zero_grad()
    loss = residual(model, points).square().mean()
    loss.backward()
    losses.append(loss.item())
    return loss


for round_number in range(8):
    optimizer.step(closure)
    print(f"round {round_number}: {len(losses)} evaluations, loss {losses[-1]:.2e}")

with torch.no_grad():
    t = torch.linspace(0.05, 1, 20).unsqueeze(1)
    print(f"largest error {(model(t) - reference(t)).abs().max().item():.4f}")
