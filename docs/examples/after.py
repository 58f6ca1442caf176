import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)


def linear(inputs, outputs):
    layer = nn.Linear(inputs, outputs)
    if outputs == 1:
        nn.init.zeros_(layer.bias)
    return layer


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = linear(4, 8)
        self.last = linear(8, 1)

    def forward(self, x):
        hidden = torch.tanh(self.first(x))
        return self.last(hidden)


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(20):
    optimizer.zero_grad()
    loss = ((net(x) - y) ** 2).mean()
    loss.backward()
    optimizer.step()
