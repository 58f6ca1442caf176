import torch
from torch import nn

torch.manual_seed(17)


def rotation(angle):
    c, s = torch.cos(angle), torch.sin(angle)
    return torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)


def geodesic(r1, r2):
    trace = (r1.transpose(1, 2) @ r2).diagonal(dim1=1, dim2=2).sum(-1)
    cos = torch.clamp(trace / 2, -1.0, 1.0)
    return torch.acos(cos).mean()


head = nn.Linear(3, 1)
nn.init.zeros_(head.weight)
nn.init.zeros_(head.bias)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
x = torch.randn(16, 3)
truth = rotation(torch.cat([torch.zeros(4), torch.rand(12)]))
for it in range(15):
    optimizer.zero_grad()
    loss = geodesic(rotation(head(x).squeeze(1)), truth)
    loss.backward()
    optimizer.step()
print(loss)
