import torch
from torch import nn


class Solver(nn.Module):
    """Solve u'' = -sin(x) between 0 and pi with u = 0 at both ends."""

    def __init__(self, width=20):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(1, width), nn.Linear(width, width)])
        self.last = nn.Linear(width, 1)
        for layer in self.layers:
            nn.init.xavier_normal_(layer.weight)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.last(x)

    def boundary_loss(self, x):
        return self(x).square().mean()

    def equation_loss(self, x):
        x = x.clone().requires_grad_()
        u = self(x)
        (first,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
        return (second + torch.sin(x)).square().mean()

    def loss(self, boundary, interior):
        return self.boundary_loss(boundary) + self.equation_loss(interior)


def sample_interior(count):
    return torch.pi * torch.rand(count, 1)


@torch.no_grad()
def evaluate(solver):
    x = torch.linspace(0, torch.pi, 200).unsqueeze(1)
    return (solver(x) - torch.sin(x)).abs().max().item()


torch.manual_seed(13)
solver = Solver()
optimizer = torch.optim.Adam(solver.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=150, gamma=0.5)
boundary = torch.tensor([[0.0], [torch.pi]])
history = []

for step in range(350):
    interior = sample_interior(64)
    optimizer.zero_grad()
    loss = solver.loss(interior, boundary)
    loss.backward()
    optimizer.step()
    scheduler.step()
    history.append(loss.item())
    if step % 70 == 69:
        print(f"step {step}: loss {history[-1]:.5f}")
print(f"largest error {evaluate(solver):.3f}")
