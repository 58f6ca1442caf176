import copy

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def spirals(count):
    label = torch.arange(count) % 3
    radius = torch.rand(count)
    angle = 3 * radius + label * 2 * torch.pi / 3 + 0.2 * torch.randn(count)
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1), label


class Net(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 3)
        )

    def forward(self, x):
        return self.net(x)


@torch.no_grad()
def vote(models, x):
    return torch.stack([model(x).softmax(dim=1) for model in models]).mean(dim=0)


torch.manual_seed(17)
x, y = spirals(480)
valid_x, valid_y = spirals(300)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model, snapshots = Net(), []
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
cycle = 4 * len(loader)
schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=cycle)
for epoch in range(16):
    for batch, label in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(batch), label)
        loss.backward()
        optimizer.step()
        schedule.step()
    if epoch % 4 == 3:
        snapshots.append(copy.deepcopy(model).eval())
        alone = (model(valid_x).argmax(1) == valid_y).float().mean().item()
        together = (vote(snapshots, valid_x).argmax(1) == valid_y).float().mean().item()
        print(f"epoch {epoch}: loss {loss.item():.3f}, alone {alone:.3f}, all {together:.3f}")
