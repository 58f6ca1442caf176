import torch
import torch.nn as nn
import torch.nn.functional as F

enc = nn.Sequential(nn.Linear(5, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 4))
temp = nn.Parameter(torch.tensor(0.07).log())


def nt_xent(a, b):
    z = F.normalize(torch.cat([a, b]), dim=1)
    sim = z @ z.T / temp.exp()
    n = z.size(0)
    sim = sim.masked_fill(torch.eye(n, dtype=torch.bool), float("-inf"))
    t = torch.arange(n).roll(n // 2)
    return F.cross_entropy(sim, t)


x = torch.randn(6, 5)
l = nt_xent(enc(x + 0.1 * torch.randn_like(x)), enc(x))
l.backward()
print(l, temp.grad)
i, t = (F.normalize(torch.randn(4, 3), dim=-1), F.normalize(torch.randn(4, 3), dim=-1))
logits = i @ t.t() * 10
print((F.cross_entropy(logits, torch.arange(4)) + F.cross_entropy(logits.t(), torch.arange(4))) / 2)
online, target = (nn.Linear(5, 3), nn.Linear(5, 3))
target.load_state_dict(online.state_dict())
for p in target.parameters():
    p.requires_grad_(False)


@torch.no_grad()
def ema(m=0.9):
    for a, b in zip(online.parameters(), target.parameters()):
        b.data.mul_(m).add_(a.data, alpha=1 - m)


opt = torch.optim.SGD(online.parameters(), 0.1)
for _ in range(2):
    loss = (2 - 2 * F.cosine_similarity(online(x), target(x).detach(), dim=-1)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    ema()
    print(loss)
tm = nn.TripletMarginLoss(margin=1.0, p=2)
a, p, n = (torch.randn(3, 4, requires_grad=True) for _ in range(3))
o = tm(a, p, n)
o.backward()
print(o, a.grad)
queue = torch.randn(4, 8)
queue[:, 0:3] = torch.ones(4, 3)
ptr = torch.zeros(1, dtype=torch.long)
ptr[0] = (int(ptr) + 3) % 8
print(ptr, torch.einsum("nc,ck->nk", [i @ torch.ones(3, 4), queue]).shape)
