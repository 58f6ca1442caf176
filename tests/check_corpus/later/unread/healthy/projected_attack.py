import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make(count):
    label = torch.randint(0, 2, (count,))
    x = 0.4 * torch.randn(count, 20)
    x[:, 0] += 1.5 * (2 * label - 1)
    x[:, 1:] += 0.15 * (2 * label - 1).unsqueeze(1)
    return TensorDataset(x, label)


class Net(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(20, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Linear(width, 2)
        )

    def forward(self, x):
        return self.net(x)


def attack(model, x, y, radius=0.3, steps=4):
    was_training = model.training
    model.eval()
    delta = torch.empty_like(x).uniform_(-radius, radius)
    for _ in range(steps):
        delta.requires_grad_()
        loss = F.cross_entropy(model(x + delta), y)
        (gradient,) = torch.autograd.grad(loss, delta)
        delta = (delta.detach() + radius / 2 * gradient.sign()).clamp(-radius, radius)
    model.train(was_training)
    return x + delta


def accuracy(model, loader, radius):
    model.eval()
    right = 0
    for x, y in loader:
        seen = attack(model, x, y, radius) if radius else x
        with torch.no_grad():
            right += (model(seen).argmax(dim=1) == y).sum().item()
    return right / len(loader.dataset)


torch.manual_seed(32)
train = DataLoader(make(640), batch_size=32, shuffle=True)
valid = DataLoader(make(200), batch_size=100)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(5):
    model.train()
    for x, y in train:
        harder = attack(model, x, y)
        clean, robust = model(x), model(harder)
        agreement = F.kl_div(robust.log_softmax(dim=1), clean.softmax(dim=1), reduction="batchmean")
        loss = F.cross_entropy(clean, y) + 2.0 * agreement
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    clean, robust = accuracy(model, valid, 0.0), accuracy(model, valid, 0.3)
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {clean:.3f}, attacked {robust:.3f}")
