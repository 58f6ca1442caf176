import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Molecules(Dataset):
    def __init__(self, count):
        self.graphs = []
        for _ in range(count):
            nodes = int(torch.randint(4, 9, ()))
            kinds = torch.randint(0, 5, (nodes,))
            edges = torch.tensor([[i, (i + 1) % nodes] for i in range(nodes)]).T
            label = int((kinds == 3).sum() * 4 > nodes)
            self.graphs.append((kinds, torch.cat([edges, edges.flip(0)], dim=1), label))

    def __len__(self):
        return len(self.graphs)

    def __getitem__(self, index):
        return self.graphs[index]


def collate(graphs):
    kinds, edges, owner, labels, nodes = [], [], [], [], 0
    for number, (kind, edge, label) in enumerate(graphs):
        kinds.append(kind)
        edges.append(edge + nodes)
        owner.append(torch.full((len(kind),), number))
        labels.append(label)
        nodes += len(kind)
    return torch.cat(kinds), torch.cat(edges, 1), torch.cat(owner), torch.tensor(labels)


class GIN(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(5, width)
        self.mlp = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.readout = nn.Linear(width, 2)

    def forward(self, kinds, edges, owner):
        x = self.embed(kinds)
        gathered = torch.zeros_like(x).index_add(0, edges[1], x[edges[0]])
        x = F.relu(self.mlp(x + gathered))
        graphs = int(owner.max()) + 1
        pooled = x.mean(dim=0).expand(graphs, -1)
        return self.readout(pooled)


@torch.no_grad()
def accuracy(model, loader):
    right = 0
    for kinds, edges, owner, labels in loader:
        right += (model(kinds, edges, owner).argmax(1) == labels).sum().item()
    return right / len(loader.dataset)


torch.manual_seed(17)
train = DataLoader(Molecules(640), batch_size=32, shuffle=True, collate_fn=collate)
valid = DataLoader(Molecules(160), batch_size=32, collate_fn=collate)
model = GIN()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(8):
    for kinds, edges, owner, labels in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(kinds, edges, owner), labels)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: accuracy {accuracy(model, valid):.3f}")
