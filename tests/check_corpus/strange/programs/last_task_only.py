import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
        self.heads = nn.ModuleDict({name: nn.Linear(32, 1) for name in ("mass", "charge", "spin")})

    def forward(self, x):
        h = self.body(x)
        return {name: head(h).squeeze(1) for name, head in self.heads.items()}


net = Net()
optimizer = torch.optim.Adam(net.parameters(), 1e-3)
x = torch.randn(256, 6)
targets = {"mass": x[:, 0], "charge": x[:, 1] * 2, "spin": x[:, 2] - 1}
for step in range(40):
    rows = torch.randint(256, (32,))
    outputs = net(x[rows])
    total = torch.zeros(())
    for name, output in outputs.items():
        total = nn.functional.mse_loss(output, targets[name][rows])
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
