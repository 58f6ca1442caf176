"""Classify the nodes of a graph, with a mask of those whose class is known."""

import torch
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, GCNConv

torch.manual_seed(0)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = GCNConv(8, 16)
        self.second = GATConv(16, 3, heads=2, concat=False)

    def forward(self, data):
        x = F.dropout(F.relu(self.first(data.x, data.edge_index)), 0.3, self.training)
        return self.second(x, data.edge_index)


classes = torch.arange(60) % 3
ends = torch.randint(0, 60, (2, 600))
edges = ends[:, classes[ends[0]] == classes[ends[1]]]
x = torch.randn(60, 8)
x[torch.arange(60), classes] += 1
data = Data(x=x, edge_index=edges, y=classes, train_mask=torch.rand(60) < 0.3)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-4)
history = []
for epoch in range(30):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(data)[data.train_mask], data.y[data.train_mask])
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.5 * history[0]
