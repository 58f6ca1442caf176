import torch
import torch.nn.functional as F
from torch import nn


def random_graph(nodes=400, features=10, edges=1600):
    x = torch.randn(nodes, features)
    pairs = torch.randint(nodes, (2, edges))
    pairs = pairs[:, pairs[0] != pairs[1]]
    adjacency = torch.zeros(nodes, nodes)
    adjacency[pairs[0], pairs[1]] = 1
    adjacency[pairs[1], pairs[0]] = 1
    label = (x[:, 0] + 0.3 * x[:, 1] > 0).long()
    return x, adjacency, label


def normalise(adjacency):
    degree = adjacency.sum(dim=1).clamp(min=1)
    scale = degree.rsqrt()
    return scale[:, None] * adjacency * scale[None, :]


class GraphConvolution(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x, propagate):
        return propagate @ self.linear(x)


class GCN(nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.first = GraphConvolution(features, hidden)
        self.second = nn.Linear(hidden, classes)

    def forward(self, x, propagate):
        x = F.relu(self.first(x, propagate))
        x = F.dropout(x, 0.3, self.training)
        return self.second(x)


def run_epoch(model, optimizer, x, propagate, label, chosen):
    model.train()
    optimizer.zero_grad()
    loss = F.nll_loss(F.log_softmax(model(x, propagate), dim=1)[chosen], label[chosen])
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def test(model, x, propagate, label, chosen):
    model.eval()
    return (model(x, propagate).argmax(1) == label)[chosen].float().mean().item()


torch.manual_seed(16)
x, adjacency, label = random_graph()
propagate = normalise(adjacency)
order = torch.randperm(len(x))
train, valid = order[:240], order[240:]
model = GCN(10, 16, 2)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(120):
    loss = run_epoch(model, optimizer, x, propagate, label, train)
    if epoch % 30 == 29:
        score = test(model, x, propagate, label, valid)
        print(f"epoch {epoch}: loss {loss:.3f}, accuracy {score:.3f}")
