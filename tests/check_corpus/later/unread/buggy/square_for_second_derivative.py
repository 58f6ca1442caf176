import torch
from torch import nn

DIFFUSION = 0.3


class HeatNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, t, x):
        return self.net(torch.cat([t, x], dim=1))


def exact(t, x):
    return torch.exp(-DIFFUSION * torch.pi**2 * t) * torch.sin(torch.pi * x)


def gradient(y, x):
    return torch.autograd.grad(y.sum(), x, create_graph=True)[0]


def residual(model, t, x):
    t, x = t.requires_grad_(), x.requires_grad_()
    u = model(t, x)
    u_t = gradient(u, t)
    u_x = gradient(u, x)
    u_xx = u_x**2
    return u_t - DIFFUSION * u_xx


def batch(count):
    return torch.rand(count, 1), torch.rand(count, 1)


def loss_of(model):
    t, x = batch(96)
    inside = residual(model, t, x).square().mean()
    t, x = batch(48)
    start = (model(torch.zeros_like(x), x) - torch.sin(torch.pi * x)).square().mean()
    edge = model(t, torch.zeros_like(t)).square() + model(t, torch.ones_like(t)).square()
    return inside + 5 * start + 5 * edge.mean()


@torch.no_grad()
def error(model):
    t, x = batch(1000)
    return (model(t, x) - exact(t, x)).abs().mean().item()


torch.manual_seed(44)
model = HeatNet()
optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 350)
for iteration in range(350):
    loss = loss_of(model)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if iteration % 70 == 69:
        print(f"iteration {iteration}: loss {loss.item():.4f}, error {error(model):.4f}")
