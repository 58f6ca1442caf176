"""Regress a property of whole graphs in batches: message passing, pooling, set norm."""

import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINEConv, GraphNorm, global_add_pool

torch.manual_seed(0)


def molecule():
    atoms = int(torch.randint(4, 9, ()))
    kinds = torch.randint(0, 4, (atoms,))
    line = torch.stack([torch.arange(atoms - 1), torch.arange(1, atoms)])
    edges = torch.cat([line, line.flip(0)], 1)
    lengths = torch.rand(edges.shape[1], 1)
    target = (kinds == 1).float().sum().view(1, 1)
    return Data(x=kinds, edge_index=edges, edge_attr=lengths, y=target)


class Net(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.atoms = nn.Embedding(4, width)
        self.bonds = nn.Linear(1, width)
        self.layers = nn.ModuleList(
            GINEConv(nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)))
            for _ in range(2)
        )
        self.norms = nn.ModuleList(GraphNorm(width) for _ in range(2))
        self.head = nn.Linear(width, 1)

    def forward(self, data):
        x, bonds = self.atoms(data.x), self.bonds(data.edge_attr)
        for layer, norm in zip(self.layers, self.norms):
            x = x + norm(layer(x, data.edge_index, bonds), data.batch)
        return self.head(global_add_pool(x, data.batch))


loader = DataLoader([molecule() for _ in range(64)], 16, shuffle=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
history = []
for epoch in range(10):
    for data in loader:
        loss = F.l1_loss(model(data), data.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss.item())
assert sum(history[-4:]) < 0.5 * sum(history[:4])
