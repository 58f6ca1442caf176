import torch
import torch.nn as nn

torch.manual_seed(35)
edges = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0, 4, 0], [1, 0, 2, 1, 3, 2, 0, 3, 0, 4]])
nodes = 6  # nobody knows node 5


class GraphConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.own, self.others = nn.Linear(inputs, outputs), nn.Linear(inputs, outputs, bias=False)

    def forward(self, x):
        source, goal = edges
        degree = torch.zeros(nodes).index_add(0, goal, torch.ones(len(goal)))
        summed = torch.zeros(nodes, x.size(1)).index_add(0, goal, x[source])
        return self.own(x) + self.others(summed / degree.clamp(min=1).unsqueeze(1))


conv1, conv2 = GraphConv(4, 12), GraphConv(12, 2)
optimizer = torch.optim.Adam([*conv1.parameters(), *conv2.parameters()], lr=0.02)
x, labels = torch.randn(nodes, 4), torch.tensor([0, 1, 0, 1, 1, -100])  # the last is unknown
history = []
for epoch in range(30):
    loss = nn.functional.cross_entropy(conv2(torch.relu(conv1(x))), labels, ignore_index=-100)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
