import torch
from torch import nn

torch.manual_seed(0)
ACCUMULATE = 8
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(512, 10)
y = x[:, :3].argmax(1)
optimizer.zero_grad()
for step in range(64):
    rows = slice(8 * step, 8 * step + 8)
    loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
    loss.backward()
    if step % ACCUMULATE == 0:
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad
