import torch
import torch.nn as nn
import torch.nn.functional as F


class MoE(nn.Module):
    def __init__(self, d, n, k):
        super().__init__()
        self.experts = nn.ModuleList([nn.Linear(d, d) for _ in range(n)])
        self.gate = nn.Linear(d, n, bias=False)
        self.k = k

    def forward(self, x):
        scores = self.gate(x)
        weights, idx = torch.topk(scores, self.k)
        weights = F.softmax(weights, dim=1, dtype=torch.float).to(x.dtype)
        results = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            batch_idx, nth = torch.where(idx == i)
            results[batch_idx] += weights[batch_idx, nth, None] * expert(x[batch_idx])
        return results


m = MoE(4, 3, 2)
x = torch.randn(5, 4, requires_grad=True)
y = m(x)
y.pow(2).sum().backward()
print(y, x.grad)
print([p.grad.norm().item() for p in m.parameters()])
net = nn.Sequential(nn.Linear(4, 6), nn.PReLU(), nn.Linear(6, 3))
a, p, n = torch.randn(3, 6, 4)
ea, ep, en = net(a), net(p), net(n)
print(nn.TripletMarginLoss(margin=1.0)(ea, ep, en), F.cosine_similarity(ea, ep).sum(), F.pairwise_distance(ea, en).sum())
lossfn = nn.CosineEmbeddingLoss(margin=0.5)
loss = lossfn(ea, ep, torch.tensor([1., -1., 1., 1., -1., -1.])) + torch.cdist(ea, en).mean()
z = F.normalize(torch.cat([ea, ep]), dim=1)
sim = z @ z.T / 0.5
sim.fill_diagonal_(-1e9)
labels = torch.cat([torch.arange(6, 12), torch.arange(6)])
loss = loss + F.cross_entropy(sim, labels)
loss.backward()
print(loss, net[1].weight.grad, sim.grad_fn.name())
