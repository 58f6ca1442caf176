import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def make_data(counts):
    xs, ys = [], []
    for label, count in enumerate(counts):
        center = torch.zeros(10)
        center[label] = 1.5
        xs.append(center + torch.randn(count, 10))
        ys.append(torch.full((count,), label))
    order = torch.randperm(sum(counts))
    return torch.cat(xs)[order], torch.cat(ys)[order]


class Classifier(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(10, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, classes)
        )

    def forward(self, x):
        return self.net(x)


def balanced_loader(x, y, batch_size):
    counts = torch.bincount(y)
    class_weights = 1.0 / counts.float()
    sampler = WeightedRandomSampler(class_weights, num_samples=len(y), replacement=True)
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, sampler=sampler)


def balanced_accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        prediction = model(x).argmax(dim=1)
    model.train()
    scores = [(prediction[y == c] == c).float().mean() for c in y.unique()]
    return torch.stack(scores).mean().item()


torch.manual_seed(27)
train_x, train_y = make_data([600, 200, 80, 40])
valid_x, valid_y = make_data([100, 100, 100, 100])
loader = balanced_loader(train_x, train_y, batch_size=46)
model = Classifier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
criterion = nn.CrossEntropyLoss()

for epoch in range(8):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    score = balanced_accuracy(model, valid_x, valid_y)
    print(f"epoch {epoch}: loss {total / len(loader):.3f}, accuracy {score:.3f}")
