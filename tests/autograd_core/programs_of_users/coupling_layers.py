import torch
import torch.nn as nn
import torch.distributions as D


class Coupling(nn.Module):
    def __init__(self, d, flip):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d // 2, 8), nn.ReLU(), nn.Linear(8, d))
        self.flip = flip

    def forward(self, x):
        a, b = x.chunk(2, dim=-1)
        if self.flip:
            a, b = (b, a)
        s, t = self.net(a).chunk(2, -1)
        s = torch.tanh(s)
        b = b * s.exp() + t
        return (torch.cat([b, a] if self.flip else [a, b], -1), s.sum(-1))

    def inverse(self, y):
        a, b = y.chunk(2, dim=-1)
        if self.flip:
            a, b = (b, a)
        s, t = self.net(a).chunk(2, -1)
        b = (b - t) * torch.exp(-torch.tanh(s))
        return torch.cat([b, a] if self.flip else [a, b], -1)


flow = nn.ModuleList([Coupling(4, i % 2 == 1) for i in range(3)])
base = D.Independent(D.Normal(torch.zeros(4), torch.ones(4)), 1)
opt = torch.optim.Adam(flow.parameters(), 0.01)
x = torch.randn(16, 4) * 2 + 1
for i in range(3):
    z, ld = (x, 0)
    for f in flow:
        z, l = f(z)
        ld = ld + l
    loss = -(base.log_prob(z) + ld).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss)
with torch.no_grad():
    z = x
    for f in flow:
        z, _ = f(z)
    for f in reversed(flow):
        z = f.inverse(z)
    print(torch.allclose(z, x, atol=0.0001), base.sample((2,)).shape, base)
