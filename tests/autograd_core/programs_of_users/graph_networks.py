import torch
import torch.nn as nn
import torch.nn.functional as F

edge = torch.tensor([[0, 1, 2, 3, 0, 2], [1, 0, 3, 2, 2, 0]])
x = torch.randn(4, 5)
y = torch.tensor([0, 1, 0, 1])


class GCN(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o, bias=False)
        self.bias = nn.Parameter(torch.zeros(o))

    def forward(self, x, edge):
        loops = torch.arange(x.size(0)).repeat(2, 1)
        e = torch.cat([edge, loops], 1)
        row, col = e
        deg = torch.zeros(x.size(0)).scatter_add_(0, col, torch.ones(e.size(1)))
        norm = deg.pow(-0.5)
        norm[norm == float("inf")] = 0
        out = torch.zeros(x.size(0), self.lin.out_features).index_add_(
            0, col, (norm[row] * norm[col]).view(-1, 1) * self.lin(x)[row]
        )
        return out + self.bias


class GAT(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.W = nn.Parameter(torch.empty(i, o))
        nn.init.xavier_uniform_(self.W.data, gain=1.414)
        self.a = nn.Parameter(torch.empty(2 * o, 1))
        nn.init.xavier_uniform_(self.a.data)

    def forward(self, h, adj):
        Wh = torch.mm(h, self.W)
        e = F.leaky_relu(Wh @ self.a[:4] + (Wh @ self.a[4:]).T, 0.2)
        att = F.softmax(torch.where(adj > 0, e, -9000000000000000.0 * torch.ones_like(e)), dim=1)
        return F.elu(att @ Wh)


g1, g2 = (GCN(5, 4), GCN(4, 2))
opt = torch.optim.Adam([*g1.parameters(), *g2.parameters()], 0.05)
for i in range(3):
    loss = F.cross_entropy(g2(F.relu(g1(x, edge)), edge)[:3], y[:3])
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss)
adj = torch.zeros(4, 4).index_put_((edge[0], edge[1]), torch.tensor(1.0)) + torch.eye(4)
gat = GAT(5, 4)
o = gat(x, adj)
o.sum().backward()
print(o, gat.a.grad)
pool = torch.zeros(2, 4).scatter_reduce(
    0, torch.tensor([0, 0, 1, 1]).view(-1, 1).expand(-1, 4), o, "amax", include_self=False
)
print(pool)
