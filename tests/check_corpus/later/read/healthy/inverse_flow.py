import torch
from torch import nn


class AffineAutoregressive(nn.Module):
    """An inverse autoregressive step in three dimensions: quick to sample from."""

    def __init__(self, size=3, width=32):
        super().__init__()
        self.register_buffer("mask", torch.tril(torch.ones(size, size), diagonal=-1))
        self.enter = nn.Parameter(0.5 * torch.randn(size, size, width))
        self.leave = nn.Parameter(0.05 * torch.randn(size, width, 2))

    def forward(self, z):
        seen = z.unsqueeze(1) * self.mask
        hidden = torch.tanh(torch.einsum("bij,ijw->biw", seen, self.enter))
        shift, scale = torch.einsum("biw,iwk->bik", hidden, self.leave).unbind(dim=-1)
        scale = torch.tanh(scale)
        return z * scale.exp() + shift, scale.sum(dim=1)


class Flow(nn.Module):
    def __init__(self, depth=4, size=3):
        super().__init__()
        self.steps = nn.ModuleList(AffineAutoregressive(size) for _ in range(depth))
        self.scale = nn.Parameter(torch.zeros(size))
        self.shift = nn.Parameter(torch.zeros(size))

    def forward(self, z):
        log_det = self.scale.sum().expand(len(z))
        z = z * self.scale.exp() + self.shift
        for step in self.steps:
            z, change = step(z)
            log_det = log_det + change
            z = z.flip(1)
        return z, log_det


def log_target(x):
    first = -0.5 * ((x[:, 0] - 1) / 0.5) ** 2
    second = -0.5 * ((x[:, 1] - x[:, 0] ** 2) / 0.4) ** 2
    return first + second - 0.5 * x[:, 2] ** 2


torch.manual_seed(6)
flow = Flow()
optimizer = torch.optim.Adam(flow.parameters(), lr=5e-3)
schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.99)
for iteration in range(200):
    z = torch.randn(128, 3)
    x, log_det = flow(z)
    entropy_term = -0.5 * z.square().sum(dim=1) - log_det
    loss = (entropy_term - log_target(x)).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(flow.parameters(), 10.0)
    optimizer.step()
    schedule.step()
    if iteration % 50 == 49:
        print(f"iteration {iteration}: divergence {loss.item():.3f}")
