import torch
import torch.nn.functional as F
from torch import nn


def citations(nodes=300, features=8, per_node=6):
    x = torch.randn(nodes, features)
    target = torch.arange(nodes).repeat_interleave(per_node)
    source = torch.randint(nodes, (nodes * per_node,))
    total = torch.zeros(nodes).index_add_(0, target, x[source, 0])
    return x, torch.stack([source, target]), (total > 0).long()


class DirectedConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own = nn.Linear(inputs, outputs)
        self.message = nn.Linear(inputs, outputs, bias=False)

    def forward(self, x, edge_index):
        source, target = edge_index
        messages = self.message(x)[target]
        gathered = torch.zeros(len(x), messages.size(1)).index_add(0, source, messages)
        degree = torch.bincount(source, minlength=len(x)).clamp(min=1)
        return self.own(x) + gathered / degree.unsqueeze(1)


class Net(nn.Module):
    def __init__(self, features=8, hidden=16, classes=2):
        super().__init__()
        self.conv1 = DirectedConv(features, hidden)
        self.out = nn.Linear(hidden, classes)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x, edge_index):
        x = F.relu(self.conv1(x, edge_index))
        return self.out(self.dropout(x))


def accuracy(model, x, edge_index, y, mask):
    model.eval()
    with torch.no_grad():
        prediction = model(x, edge_index).argmax(dim=1)
    model.train()
    return (prediction[mask] == y[mask]).float().mean().item()


torch.manual_seed(15)
x, edge_index, y = citations()
train_mask = torch.rand(len(x)) < 0.6
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=5e-3)

for epoch in range(120):
    optimizer.zero_grad()
    logits = model(x, edge_index)
    loss = F.cross_entropy(logits[train_mask], y[train_mask])
    loss.backward()
    optimizer.step()
    if epoch % 40 == 39:
        test = accuracy(model, x, edge_index, y, ~train_mask)
        print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {test:.3f}")
