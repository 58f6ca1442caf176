import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Coupling(nn.Module):
    def __init__(self, swap, width=32):
        super().__init__()
        self.swap = swap
        self.net = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, 2))

    def forward(self, x):
        a, b = x.flip(1).split(1, dim=1) if self.swap else x.split(1, dim=1)
        scale, shift = self.net(a).split(1, dim=1)
        scale = 2 * torch.tanh(scale / 2)
        y = torch.cat([a, b * scale.exp() + shift], dim=1)
        return (y.flip(1) if self.swap else y), scale.squeeze(1)

    def inverse(self, y):
        a, b = y.flip(1).split(1, dim=1) if self.swap else y.split(1, dim=1)
        scale, shift = self.net(a).split(1, dim=1)
        scale = 2 * torch.tanh(scale / 2)
        x = torch.cat([a, (b - shift) * (-scale).exp()], dim=1)
        return x.flip(1) if self.swap else x


class Flow(nn.Module):
    def __init__(self, depth=6):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(swap=i % 2 == 1) for i in range(depth))
        self.base = torch.distributions.Normal(0.0, 1.0)

    def log_prob(self, x):
        log_det = torch.zeros(len(x))
        for layer in self.layers:
            x, change = layer(x)
            log_det = log_det + change
        return self.base.log_prob(x).sum(dim=1) - log_det

    @torch.no_grad()
    def sample(self, count):
        z = torch.randn(count, 2)
        for layer in reversed(self.layers):
            z = layer.inverse(z)
        return z


def bananas(count):
    x = torch.randn(count)
    y = 0.5 * x**2 + 0.4 * torch.randn(count) - 2
    return torch.stack([x, y], dim=1)


torch.manual_seed(11)
loader = DataLoader(TensorDataset(bananas(1600)), batch_size=100, shuffle=True)
flow = Flow()
optimizer = torch.optim.Adam(flow.parameters(), lr=3e-3)

for epoch in range(12):
    total = 0.0
    for (x,) in loader:
        loss = -flow.log_prob(x).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
        optimizer.step()
        total += loss.item()
    if epoch % 4 == 3:
        print(f"epoch {epoch}: loss {total / len(loader):.3f}")

samples, data = flow.sample(2000), bananas(2000)
error = (samples.mean(0) - data.mean(0)).abs() + (samples.std(0) - data.std(0)).abs()
print(f"error of the moments {error.mean().item():.3f}")
