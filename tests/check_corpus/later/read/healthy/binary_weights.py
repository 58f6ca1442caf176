import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, weight):
        ctx.save_for_backward(weight)
        return weight.sign()

    @staticmethod
    def backward(ctx, grad):
        (weight,) = ctx.saved_tensors
        return grad * (weight.abs() <= 1)


class BinaryLinear(nn.Linear):
    def forward(self, x):
        scale = self.weight.detach().abs().mean(dim=1)
        return F.linear(x, Sign.apply(self.weight)) * scale + self.bias


class BinaryNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(8, 64),
            nn.BatchNorm1d(64),
            nn.Hardtanh(),
            BinaryLinear(64, 64),
            nn.BatchNorm1d(64),
            nn.Hardtanh(),
            nn.Linear(64, 3),
        )

    def forward(self, x):
        return self.layers(x)


def make(count):
    x = torch.randn(count, 8)
    return TensorDataset(x, x[:, :3].argmax(dim=1))


def test(model, loader):
    model.eval()
    with torch.no_grad():
        right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train()
    return right / len(loader.dataset)


torch.manual_seed(2)
train, valid = DataLoader(make(960), batch_size=64, shuffle=True), DataLoader(make(320), 160)
model = BinaryNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(10):
    for x, y in train:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            model.layers[3].weight.clamp_(-1, 1)
    print(f"epoch {epoch}: accuracy {test(model, valid):.3f}")
