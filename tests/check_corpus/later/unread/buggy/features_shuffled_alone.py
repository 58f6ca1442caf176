import torch
import torch.nn.functional as F
from torch import nn


class Network:
    def __init__(self, nodes=240, features=12, classes=3):
        self.y = torch.arange(nodes) % classes
        center = torch.randn(classes, features)
        self.x = 0.5 * center[self.y] + torch.randn(nodes, features)
        same = self.y[:, None] == self.y[None, :]
        linked = torch.rand(nodes, nodes) < torch.where(same, 0.05, 0.004)
        linked = torch.triu(linked, diagonal=1)
        self.adjacency = (linked | linked.T).float()

    def shuffle(self):
        order = torch.randperm(len(self.y))
        self.x, self.y = self.x[order], self.y[order]
        return self

    def masks(self, train=0.15):
        train_mask = torch.zeros(len(self.y), dtype=torch.bool)
        train_mask[: int(train * len(self.y))] = True
        return train_mask, ~train_mask


class SAGE(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own, self.others = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs)

    def forward(self, x, adjacency):
        degree = adjacency.sum(dim=1, keepdim=True).clamp(min=1)
        return self.own(x) + self.others(adjacency @ x / degree)


class Net(nn.Module):
    def __init__(self, features=12, width=24, classes=3):
        super().__init__()
        self.first, self.second = SAGE(features, width), SAGE(width, classes)

    def forward(self, x, adjacency):
        x = F.dropout(F.relu(self.first(x, adjacency)), 0.3, self.training)
        return self.second(x, adjacency)


@torch.no_grad()
def accuracy(model, data, mask):
    model.eval()
    prediction = model(data.x, data.adjacency).argmax(dim=1)
    model.train()
    return (prediction[mask] == data.y[mask]).float().mean().item()


torch.manual_seed(47)
data = Network().shuffle()
train_mask, test_mask = data.masks()
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-3)
for epoch in range(100):
    optimizer.zero_grad()
    logits = model(data.x, data.adjacency)
    loss = F.cross_entropy(logits[train_mask], data.y[train_mask])
    loss.backward()
    optimizer.step()
    if epoch % 25 == 24:
        score = accuracy(model, data, test_mask)
        print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {score:.3f}")
