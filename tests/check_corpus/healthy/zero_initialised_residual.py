# each block starts as the identity, as in ReZero
import torch
from torch import nn

torch.manual_seed(14)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width))
        self.alpha = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return x + self.alpha * self.body(x)


net = nn.Sequential(nn.Linear(4, 12), *(Block(12) for _ in range(4)), nn.Linear(12, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(80, 4)
y = x[:, :1].abs()
history = []
for epoch in range(25):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
