import torch
from torch import nn

SPEED = 0.4


class PINN(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width),
            nn.Tanh(),
            nn.Linear(width, width),
            nn.Tanh(),
            nn.Linear(width, 1),
        )

    def forward(self, t, x):
        return self.net(torch.cat([t, x], dim=1))


def exact(t, x):
    return torch.sin(torch.pi * (x - SPEED * t))


def derivatives(model, t, x):
    points = torch.cat([t, x], dim=1).requires_grad_()
    u = model(points[:, :1], points[:, 1:])
    (gradient,) = torch.autograd.grad(u.sum(), points, create_graph=True)
    u_x, u_t = gradient[:, 0:1], gradient[:, 1:2]
    return u_t, u_x


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=8e-3)

    def physics_loss(self, count=128):
        t, x = torch.rand(count, 1), 2 * torch.rand(count, 1) - 1
        u_t, u_x = derivatives(self.model, t, x)
        return (u_t + SPEED * u_x).square().mean()

    def data_loss(self, count=64):
        x = 2 * torch.rand(count, 1) - 1
        t = torch.zeros_like(x)
        start = (self.model(t, x) - exact(t, x)).square().mean()
        t = torch.rand(count, 1)
        left = -torch.ones_like(t)
        return start + (self.model(t, left) - exact(t, left)).square().mean()

    def step(self):
        loss = self.data_loss() + 0.3 * self.physics_loss()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def validate(self):
        t, x = torch.rand(1000, 1), 2 * torch.rand(1000, 1) - 1
        return (self.model(t, x) - exact(t, x)).abs().mean().item()


torch.manual_seed(12)
trainer = Trainer(PINN())
for iteration in range(400):
    loss = trainer.step()
    if iteration % 100 == 99:
        print(f"iteration {iteration}: loss {loss:.4f}, error {trainer.validate():.3f}")
