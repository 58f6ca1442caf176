import torch
from torch.autograd import grad
from torch.autograd.functional import hessian, jacobian, hvp, vhp, jvp, vjp


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


x = torch.tensor([1.2, 0.7, -0.3, 1.9], dtype=torch.float64, requires_grad=True)
g, = grad(rosenbrock(x), x, create_graph=True)
print(g, g.grad_fn is not None)
v = torch.tensor([1., -1., 2., 0.5], dtype=torch.float64)
hv, = grad(g, x, grad_outputs=v, retain_graph=True)
print(hv)
rows = [grad(g[i], x, retain_graph=True)[0] for i in range(4)]
H = torch.stack(rows)
print(H)
print(torch.allclose(H, hessian(rosenbrock, x)), torch.allclose(H @ v, hv))
print(hvp(rosenbrock, x, v)[1], vhp(rosenbrock, x, v)[1])


def f(a, b):
    return torch.sin(a) * b, a.sum() * b


a, b = torch.ones(3), torch.full((3,), 2.0)
J = jacobian(f, (a, b))
print(J[0][0], J[1][1])
print(jvp(f, (a, b), (torch.ones(3), torch.zeros(3))))
print(vjp(f, (a, b), (torch.ones(3), torch.zeros(3))))
print(jacobian(lambda t: t.exp().sum(dim=1), torch.eye(2), vectorize=True))
H2 = hessian(lambda a, b: (a * b ** 2).sum(), (a, b))
print(H2[0][1])

# Newton's method and power iteration
y = torch.tensor([2.0, 1.0], requires_grad=True)
for i in range(6):
    loss = rosenbrock(y)
    grads = grad(loss, y, create_graph=True)[0]
    Hm = torch.stack([grad(gi, y, retain_graph=True)[0] for gi in grads])
    with torch.no_grad():
        y -= torch.linalg.solve(Hm, grads)
print(y, loss.item() < 10)
vec = torch.ones(4, dtype=torch.float64)
for _ in range(50):
    vec = vec / vec.norm()
    hv = grad(g, x, vec, retain_graph=True)[0]
    eig = torch.dot(vec, hv)
    vec = hv
print(eig, torch.linalg.eigvalsh(H).abs().max())
try:
    grad(rosenbrock(x), torch.zeros(2, requires_grad=True))
except RuntimeError as e:
    print(e)
print(grad(rosenbrock(x), [x, torch.zeros(2, requires_grad=True)], allow_unused=True)[1])
try:
    grad(x * 2, x)
except RuntimeError as e:
    print(e)
try:
    grad(torch.zeros(1), x)
except RuntimeError as e:
    print(e)
