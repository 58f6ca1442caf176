import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CLASSES = 3


class LocalLayer(nn.Module):
    """Is trained by itself: good data should excite it, bad data should not."""

    def __init__(self, inputs, outputs, threshold=1.0):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)
        self.threshold = threshold
        self.optimizer = torch.optim.Adam(self.linear.parameters(), lr=0.01)

    def forward(self, x):
        return F.relu(self.linear(F.normalize(x, dim=1) * x.size(1) ** 0.5))

    def goodness(self, x):
        return self(x).square().mean(dim=1)

    def learn(self, good, bad):
        loss = F.softplus(self.threshold - self.goodness(good)).mean()
        loss = loss + F.softplus(self.goodness(bad) - self.threshold).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        with torch.no_grad():
            return self(good), self(bad), loss.item()


def with_label(x, label):
    return torch.cat([x, 2 * F.one_hot(label, CLASSES).float()], dim=1)


def make(count):
    x = torch.randn(count, 6)
    return TensorDataset(x, x[:, :CLASSES].argmax(dim=1))


@torch.no_grad()
def classify(layers, x):
    scores = []
    for label in range(CLASSES):
        hidden, total = with_label(x, torch.full((len(x),), label)), 0.0
        for layer in layers:
            total = total + layer.goodness(hidden)
            hidden = layer(hidden)
        scores.append(total)
    return torch.stack(scores, dim=1).argmax(dim=1)


torch.manual_seed(26)
loader, valid = DataLoader(make(960), batch_size=64, shuffle=True), make(300)
layers = [LocalLayer(6 + CLASSES, 96), LocalLayer(96, 96)]
for epoch in range(12):
    for x, label in loader:
        wrong = (label + torch.randint(1, CLASSES, label.shape)) % CLASSES
        good, bad = with_label(x, label), with_label(x, wrong)
        for layer in layers:
            good, bad, loss = layer.learn(good, bad)
    x, label = valid.tensors
    accuracy = (classify(layers, x) == label).float().mean().item()
    print(f"epoch {epoch}: loss of the last layer {loss:.3f}, accuracy {accuracy:.3f}")
