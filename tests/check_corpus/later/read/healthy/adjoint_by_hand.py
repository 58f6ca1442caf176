import torch
from torch import nn


class Integrate(torch.autograd.Function):
    """Euler steps forward; the backward pass solves the adjoint equation and keeps no states."""

    @staticmethod
    def forward(ctx, field, y, step, count, *parameters):
        with torch.no_grad():
            for _ in range(count):
                y = y + step * field(y)
        ctx.field, ctx.step, ctx.count, ctx.parameters = field, step, count, parameters
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, adjoint):
        (y,) = ctx.saved_tensors
        sums = [torch.zeros_like(p) for p in ctx.parameters]
        for _ in range(ctx.count):
            with torch.enable_grad():
                y = y.detach().requires_grad_()
                slope = ctx.field(y)
                changes = torch.autograd.grad(slope, (y, *ctx.parameters), adjoint)
            adjoint = adjoint + ctx.step * changes[0]
            sums = [total + ctx.step * change for total, change in zip(sums, changes[1:])]
            y = y.detach() - ctx.step * slope.detach()
        return None, adjoint, None, None, *sums


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 24), nn.Tanh(), nn.Linear(24, 2))

    def forward(self, y):
        return self.net(y)


def spiral(start, time=1.0):
    angle = torch.tensor(2.0 * time)
    turn = torch.stack([angle.cos(), -angle.sin(), angle.sin(), angle.cos()]).reshape(2, 2)
    return 0.8 * start @ turn.T


torch.manual_seed(0)
field = Field()
optimizer = torch.optim.Adam(field.parameters(), lr=0.01)
for iteration in range(120):
    start = torch.randn(64, 2)
    end = Integrate.apply(field, start, 0.05, 20, *field.parameters())
    loss = (end - spiral(start)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if iteration % 40 == 39:
        print(f"iteration {iteration}: loss {loss.item():.4f}")
