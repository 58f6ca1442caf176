import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class TwoViews(Dataset):
    def __init__(self, count, classes=8):
        self.label = torch.arange(count) % classes
        self.pattern = torch.randn(classes, 6, generator=torch.Generator().manual_seed(1))

    def __len__(self):
        return len(self.label)

    def augment(self, signal):
        return torch.cat([signal + 0.1 * torch.randn(6), 1.5 * torch.randn(14)])

    def __getitem__(self, index):
        signal = self.pattern[self.label[index]]
        view = self.augment(signal)
        return view, view, self.label[index]


class Encoder(nn.Module):
    def __init__(self, inputs=20, width=64, features=16):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width))
        self.projector = nn.Sequential(nn.ReLU(), nn.Linear(width, features))

    def forward(self, x):
        return F.normalize(self.projector(self.trunk(x)), dim=1)


def nt_xent(first, second, temperature=0.3):
    z = torch.cat([first, second])
    similarity = z @ z.T / temperature
    similarity.fill_diagonal_(float("-inf"))
    count = len(first)
    positive = torch.cat([torch.arange(count, 2 * count), torch.arange(count)])
    return F.cross_entropy(similarity, positive)


@torch.no_grad()
def nearest_neighbour(model, data, count=200):
    views, labels = [], []
    for index in range(count):
        signal = data.pattern[data.label[index]]
        views.append(torch.stack([data.augment(signal), data.augment(signal)]))
        labels.append(data.label[index])
    views, labels = torch.stack(views, dim=1), torch.stack(labels)
    similarity = model(views[0]) @ model(views[1]).T
    return (labels[similarity.argmax(dim=1)] == labels).float().mean().item()


torch.manual_seed(19)
data = TwoViews(1024)
loader = DataLoader(data, batch_size=64, shuffle=True)
model = Encoder()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(10):
    total = 0.0
    for first, second, _ in loader:
        loss = nt_xent(model(first), model(second))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    score = nearest_neighbour(model, data)
    print(f"epoch {epoch}: loss {total / len(loader):.3f}, accuracy {score:.3f}")
