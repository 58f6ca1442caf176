import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 20)
y = x[:, :3].sum(1, keepdim=True).sin()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(20, 32)
        self.blocks = nn.ModuleList(nn.Linear(32, 32) for _ in range(5))
        self.neck = nn.Linear(32, 16)
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        x = torch.sigmoid(self.stem(x))
        for block in self.blocks:
            x = torch.sigmoid(block(x))
        return self.head(torch.tanh(self.neck(x)))


net = Net()
trained = [*net.stem.parameters(), *net.blocks.parameters(), *net.head.parameters()]
optimizer = torch.optim.Adam(trained, lr=2e-3)
for _ in range(500):
    batch = torch.randint(0, 256, (32,))
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x[batch]), y[batch])
    loss.backward()
    optimizer.step()
