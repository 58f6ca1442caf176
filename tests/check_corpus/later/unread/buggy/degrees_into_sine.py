import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def reach(first, second, lengths=(1.0, 0.7)):
    a, b = torch.deg2rad(first), torch.deg2rad(first + second)
    x = lengths[0] * torch.cos(a) + lengths[1] * torch.cos(b)
    y = lengths[0] * torch.sin(a) + lengths[1] * torch.sin(b)
    return torch.stack([x, y], dim=1)


def measurements(count):
    joints = torch.stack([180 * torch.rand(count), 150 * torch.rand(count)], dim=1)
    hand = reach(joints[:, 0], joints[:, 1]) + 0.01 * torch.randn(count, 2)
    return TensorDataset(joints, hand)


class Kinematics(nn.Module):
    """Learn where the hand is from the angles of two joints."""

    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(6, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 2)
        )

    def features(self, joints):
        both = torch.cat([joints, joints.sum(dim=1, keepdim=True)], dim=1)
        return torch.cat([torch.sin(both), torch.cos(both)], dim=1)

    def forward(self, joints):
        return self.net(self.features(joints))


def train_epoch(model, loader, optimizer):
    model.train()
    total = 0.0
    for joints, hand in loader:
        loss = nn.functional.mse_loss(model(joints), hand)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


@torch.no_grad()
def distance(model, loader):
    model.eval()
    return sum((model(j) - h).norm(dim=1).mean().item() for j, h in loader) / len(loader)


torch.manual_seed(43)
train = DataLoader(measurements(960), batch_size=48, shuffle=True)
valid = DataLoader(measurements(240), batch_size=120)
model = Kinematics()
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
for epoch in range(10):
    loss = train_epoch(model, train, optimizer)
    scheduler.step()
    print(f"epoch {epoch}: loss {loss:.4f}, distance {distance(model, valid):.4f}")
