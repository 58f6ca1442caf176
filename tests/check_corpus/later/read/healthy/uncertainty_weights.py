import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class UncertaintyLoss(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.log_variance = nn.Parameter(torch.zeros(tasks))

    def forward(self, losses):
        total = 0.0
        for log_variance, loss in zip(self.log_variance, losses):
            total = total + 0.5 * (-log_variance).exp() * loss + 0.5 * log_variance
        return total


class ThreeHeads(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(8, width), nn.ELU(), nn.Linear(width, width), nn.ELU())
        self.small, self.large = nn.Linear(width, 1), nn.Linear(width, 1)
        self.kind = nn.Linear(width, 3)

    def forward(self, x):
        shared = self.trunk(x)
        return self.small(shared).squeeze(1), self.large(shared).squeeze(1), self.kind(shared)


def make(count):
    x = torch.randn(count, 8)
    small = 0.05 * (x[:, 0] * x[:, 1]) + 0.01 * torch.randn(count)
    large = 20 * x[:, 2] + 5 * torch.randn(count)
    return TensorDataset(x, small, large, x[:, 3:6].argmax(dim=1))


torch.manual_seed(19)
loader = DataLoader(make(960), batch_size=48, shuffle=True)
valid = make(300)
model, weigh = ThreeHeads(), UncertaintyLoss(3)
optimizer = torch.optim.Adam(
    [{"params": model.parameters()}, {"params": weigh.parameters(), "lr": 0.02}], lr=4e-3
)
for epoch in range(12):
    for x, small, large, kind in loader:
        a, b, c = model(x)
        losses = F.mse_loss(a, small), F.mse_loss(b, large), F.cross_entropy(c, kind)
        loss = weigh(losses)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        x, small, large, kind = valid.tensors
        a, b, c = model(x)
        accuracy = (c.argmax(1) == kind).float().mean().item()
        error = F.mse_loss(b, large).item()
    print(f"epoch {epoch}: loss {loss.item():+.3f}, error {error:.1f}, accuracy {accuracy:.3f}")
