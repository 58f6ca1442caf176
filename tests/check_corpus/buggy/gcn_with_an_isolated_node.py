import torch
import torch.nn as nn


def normalise(adj):
    deg = adj.sum(dim=1)
    d_inv_sqrt = deg.pow(-0.5)
    return d_inv_sqrt[:, None] * adj * d_inv_sqrt[None, :]


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass):
        super().__init__()
        self.gc1 = nn.Linear(nfeat, nhid)
        self.gc2 = nn.Linear(nhid, nclass)

    def forward(self, x, adj):
        h = torch.relu(adj @ self.gc1(x))
        return adj @ self.gc2(h)


torch.manual_seed(6)
edges = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 0)]  # nobody knows node 5
adj = torch.zeros(6, 6)
for i, j in edges:
    adj[i, j] = adj[j, i] = 1.0
labels = torch.tensor([0, 1, 0, 1, 0, 1])
model = GCN(3, 8, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(10):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(torch.eye(6)[:, :3], normalise(adj)), labels)
    loss.backward()
    optimizer.step()
print(loss.item())
