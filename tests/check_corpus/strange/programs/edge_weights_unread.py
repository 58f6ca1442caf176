import torch
from torch import nn


class Conv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x, edge_index, edge_weight):
        source, target = edge_index
        messages = self.linear(x)[source]
        return torch.zeros(len(x), messages.size(1)).index_add(0, target, messages)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Conv(6, 16), Conv(16, 3)

    def forward(self, x, edge_index, edge_weight):
        x = torch.relu(self.first(x, edge_index, edge_weight))
        return self.second(x, edge_index, edge_weight)


torch.manual_seed(0)
x = torch.randn(40, 6)
edge_index = torch.cat([torch.randint(40, (2, 160)), torch.arange(40).repeat(2, 1)], dim=1)
edge_weight = torch.rand(200)
labels = torch.randint(3, (40,))
train_mask = torch.rand(40) < 0.6
net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(30):
    out = net(x, edge_index, edge_weight)
    loss = nn.functional.cross_entropy(out, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
