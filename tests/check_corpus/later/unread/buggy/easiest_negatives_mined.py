import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler


class Birds(Dataset):
    def __init__(self, count, kinds=20, seed=0):
        self.kind = torch.arange(count) % kinds
        generator = torch.Generator().manual_seed(5)
        center = torch.randn(kinds, 5, generator=generator)
        lift = torch.randn(5, 24, generator=generator)
        nuisance = torch.randn(count, 24, generator=torch.Generator().manual_seed(seed))
        self.x = torch.sin(center[self.kind] @ lift) + 0.9 * nuisance

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, index):
        return self.x[index], self.kind[index]


class FourOfEach(Sampler):
    def __init__(self, kind, kinds_per_batch, batches):
        self.kind, self.per_batch, self.batches = kind, kinds_per_batch, batches

    def __len__(self):
        return self.batches

    def __iter__(self):
        for _ in range(self.batches):
            chosen = torch.randperm(int(self.kind.max()) + 1)[: self.per_batch]
            rows = [(self.kind == kind).nonzero().flatten() for kind in chosen]
            yield torch.cat([row[torch.randperm(len(row))[:4]] for row in rows]).tolist()


def batch_hard(features, kind, margin=0.3):
    distance = torch.cdist(features, features)
    same = kind[:, None] == kind[None, :]
    positive = distance.masked_fill(~same, 0.0).amax(dim=1)
    negative = distance.masked_fill(same, 0.0).amax(dim=1)
    return F.relu(positive - negative + margin).mean()


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 12))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


@torch.no_grad()
def recall_at_one(model, data):
    features = model(data.x)
    nearest = torch.cdist(features, features).fill_diagonal_(9.0).argmin(dim=1)
    return (data.kind[nearest] == data.kind).float().mean().item()


torch.manual_seed(49)
train, valid = Birds(800, seed=1), Birds(400, seed=2)
loader = DataLoader(train, batch_sampler=FourOfEach(train.kind, 10, batches=30))
model = Embedder()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    for x, kind in loader:
        loss = batch_hard(model(x), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, recall {recall_at_one(model, valid):.3f}")
