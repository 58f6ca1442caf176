import torch
import torch.nn as nn
import torch.nn.functional as F


class TiedAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(5, 3) * 0.3)
        self.b1 = nn.Parameter(torch.zeros(5))
        self.b2 = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        h = torch.sigmoid(F.linear(x, self.weight, self.b1))
        return F.linear(h, self.weight.t(), self.b2)


class TiedLM(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.out = nn.Linear(dim, vocab, bias=False)
        self.out.weight = self.emb.weight

    def forward(self, idx):
        return self.out(self.emb(idx).mean(1))


ae = TiedAutoencoder()
opt = torch.optim.SGD(ae.parameters(), lr=0.5, momentum=0.9, nesterov=True, weight_decay=1e-3)
x = torch.randn(10, 3)
for i in range(20):
    opt.zero_grad()
    loss = F.mse_loss(ae(x), x)
    loss.backward()
    opt.step()
print(loss.item(), ae.weight.grad)
lm = TiedLM(7, 4)
print([n for n, _ in lm.named_parameters()], len(list(lm.parameters())), list(lm.state_dict()))
idx = torch.tensor([[1, 2], [3, 3], [0, 6]])
logits = lm(idx)
loss = F.cross_entropy(logits, torch.tensor([1, 2, 3]))
loss.backward()
print(lm.emb.weight.grad)
print(lm.emb.weight.grad is lm.out.weight.grad)


class DynamicNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Parameter(torch.randn(()))
        self.b = torch.nn.Parameter(torch.randn(()))
        self.c = torch.nn.Parameter(torch.randn(()))
        self.d = torch.nn.Parameter(torch.randn(()))
        self.e = torch.nn.Parameter(torch.randn(()))

    def forward(self, x, n):
        y = self.a + self.b * x + self.c * x ** 2 + self.d * x ** 3
        for exp in range(4, n):
            y = y + self.e * x ** exp
        return y

    def string(self):
        return f'y = {self.a.item()} + {self.b.item()} x + {self.e.item()} x^4 ? + {self.e.item()} x^5 ?'


m = DynamicNet()
xs = torch.linspace(-3.14, 3.14, 200)
crit = torch.nn.MSELoss(reduction='sum')
optimizer = torch.optim.SGD(m.parameters(), lr=1e-8, momentum=0.9)
for t in range(30):
    loss = crit(m(xs, 4 + t % 3), torch.sin(xs))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
print(m.string())
