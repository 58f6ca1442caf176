import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rings(Dataset):
    """Are two neighbours on the ring of the same colour?"""

    def __init__(self, count):
        self.graphs = []
        for index in range(count):
            nodes = 2 * int(torch.randint(3, 6, ()))
            colour = torch.arange(nodes) % 2
            if index % 2:
                colour = colour[torch.randperm(nodes)]
            edges = torch.stack([torch.arange(nodes), (torch.arange(nodes) + 1) % nodes])
            same = (colour[edges[0]] == colour[edges[1]]).any()
            self.graphs.append((colour, torch.cat([edges, edges.flip(0)], dim=1), same.long()))

    def __len__(self):
        return len(self.graphs)

    def __getitem__(self, index):
        return self.graphs[index]


def collate(graphs):
    colours, edges, labels = zip(*graphs)
    sizes = torch.tensor([len(colour) for colour in colours])
    owner = torch.arange(len(graphs)).repeat_interleave(sizes)
    return torch.cat(colours), torch.cat(edges, dim=1), owner, torch.stack(labels)


class GraphNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.embed = nn.Embedding(2, width)
        self.message = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU())
        self.out = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, 2))

    def forward(self, colour, edges, owner):
        x = self.embed(colour)
        source, target = edges
        messages = self.message(torch.cat([x[source], x[target]], dim=1))
        gathered = torch.zeros_like(x).index_add(0, target, messages)
        nodes = torch.cat([x, gathered], dim=1)
        graphs = int(owner[-1]) + 1
        pooled = torch.zeros(graphs, nodes.size(1)).index_add(0, owner, nodes)
        return self.out(pooled / torch.bincount(owner).unsqueeze(1))


@torch.no_grad()
def accuracy(model, loader):
    right = 0
    for *graph, labels in loader:
        right += (model(*graph).argmax(dim=1) == labels).sum().item()
    return right / len(loader.dataset)


torch.manual_seed(45)
train = DataLoader(Rings(640), batch_size=32, shuffle=True, collate_fn=collate)
valid = DataLoader(Rings(160), batch_size=32, collate_fn=collate)
model = GraphNet()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(8):
    for colour, edges, owner, labels in train:
        loss = F.cross_entropy(model(colour, edges, owner), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {accuracy(model, valid):.3f}")
