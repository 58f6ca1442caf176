import torch

x = torch.arange(6.).reshape(2, 3).requires_grad_()
y = x.clone()
y[0] = 0
y[:, 1] *= 10
y[y > 20] = -1
y[1, ...] += x[0]
print(y, y.grad_fn.name())
y.sum().backward()
print(x.grad)

a = torch.ones(3, requires_grad=True)
for action in (lambda: a.add_(1), lambda: a[0].mul_(2), lambda: a.__setitem__(0, 1.0)):
    try:
        action()
    except RuntimeError as e:
        print(e)
b = a * 2
c = b.exp()
b.add_(1)
c.sum().backward()
print(a.grad)
b = a * 2
c = b.pow(2)
b.add_(1)
try:
    c.sum().backward()
except RuntimeError as e:
    print(e)
b = a * 1
s = b.sigmoid()
s.mul_(2)
try:
    s.sum().backward()
except RuntimeError as e:
    print(e)
u = torch.zeros(4, requires_grad=True)
base = u * 1
first, second = base.split(2)
try:
    first.add_(1)
except RuntimeError as e:
    print(e)
v = base[1:3]
v.mul_(3)
print(v.grad_fn.name(), base.grad_fn.name(), base._version, v._base is base)
(base * torch.tensor([1., 2., 3., 4.])).sum().backward()
print(u.grad)
w = torch.zeros(3, requires_grad=True)
with torch.no_grad():
    w[1] = 5.0
    view = w[:2]
    w += 1
print(w, w._version)
m = torch.zeros(3, 3)
d = torch.ones(3, requires_grad=True)
m.diagonal().copy_(d)
print(m, m.requires_grad)
m.masked_fill_(torch.eye(3).bool(), 0.5)
out = m.index_add(0, torch.tensor([0, 2]), torch.ones(2, 3) * d)
out.scatter_(1, torch.tensor([[0], [1], [2]]), -1.0)
out.sum().backward()
print(d.grad, out)
z = torch.rand(2, 2, requires_grad=True)
zt = z.t()
zt2 = zt.detach()
zt2.zero_()
print(z, z._version)
try:
    (z.exp() * z).detach_().backward()
except RuntimeError as e:
    print(e)
q = torch.ones(2, requires_grad=True)
try:
    q.data.fill_(3); print(q, q._version)
    q.resize_(3)
except RuntimeError as e:
    print(e)
try:
    torch.ones(2, dtype=torch.int64).requires_grad_()
except RuntimeError as e:
    print(e)
try:
    torch.ones(2, dtype=torch.int64).add_(1.5)
except RuntimeError as e:
    print(e)
try:
    torch.ones(2).add_(torch.ones(3, 2))
except RuntimeError as e:
    print(e)
r = torch.relu(torch.randn(3, requires_grad=True)); r = r + 1
r.sum().backward(); print("relu in place fine")
