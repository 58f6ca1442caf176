import torch

# A gentle introduction to torch.autograd
a = torch.tensor([2., 3.], requires_grad=True)
b = torch.tensor([6., 4.], requires_grad=True)
Q = 3 * a**3 - b**2
print(Q)
print(Q.grad_fn.name())
external_grad = torch.tensor([1., 1.])
Q.backward(gradient=external_grad)
print(9 * a**2 == a.grad)
print(-2 * b == b.grad)
x = torch.rand(5, 5)
y = torch.rand(5, 5)
z = torch.rand((5, 5), requires_grad=True)
print(f"Does `a` require gradients?: {(x + y).requires_grad}")
b = x + z
print(f"Does `b` require gradients?: {b.requires_grad}")

# inspect the graph
def walk(fn, depth=0):
    if fn is None:
        return
    print(" " * depth + type(fn).__name__, len(fn.next_functions))
    for nxt, idx in fn.next_functions:
        walk(nxt, depth + 2)

w = torch.randn(5, 3, requires_grad=True)
bias = torch.randn(3, requires_grad=True)
inp = torch.ones(5)
tgt = torch.zeros(3)
zz = torch.matmul(inp, w) + bias
loss = torch.nn.functional.binary_cross_entropy_with_logits(zz, tgt)
walk(loss.grad_fn)
print(f"Gradient function for z = {type(zz.grad_fn).__name__}")
loss.backward()
print(w.grad)
print(bias.grad)
inp = torch.eye(4, 5, requires_grad=True)
out = (inp + 1).pow(2).t()
out.backward(torch.ones_like(out), retain_graph=True)
print(f"First call\n{inp.grad}")
out.backward(torch.ones_like(out), retain_graph=True)
print(f"\nSecond call\n{inp.grad}")
inp.grad.zero_()
out.backward(torch.ones_like(out), retain_graph=True)
print(f"\nCall after zeroing gradients\n{inp.grad}")
try:
    out.backward()
except RuntimeError as e:
    print(e)
out.backward(torch.ones_like(out))
try:
    out.backward(torch.ones_like(out))
except RuntimeError as e:
    print(e)
