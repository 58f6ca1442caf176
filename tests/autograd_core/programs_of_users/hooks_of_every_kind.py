import torch
import torch.nn as nn

v = torch.tensor([0., 0., 0.], requires_grad=True)
h = v.register_hook(lambda grad: grad * 2)
v.backward(torch.tensor([1., 2., 3.]))
print(v.grad)
h.remove()
v.backward(torch.tensor([1., 2., 3.]))
print(v.grad)

acts, grads = {}, {}
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def save_act(name):
    def hook(module, input, output):
        acts[name] = output.detach()
    return hook


def save_grad(name):
    def hook(module, grad_input, grad_output):
        grads[name] = (tuple(None if g is None else tuple(g.shape) for g in grad_input), [tuple(g.shape) for g in grad_output])
    return hook


handles = []
for name, m in model.named_modules():
    if name:
        handles.append(m.register_forward_hook(save_act(name)))
        handles.append(m.register_full_backward_hook(save_grad(name)))
out = model(torch.randn(3, 4))
print(out.grad_fn.name(), out.grad_fn.next_functions[0][0].name())
out.pow(2).mean().backward()
for k in sorted(acts):
    print(k, tuple(acts[k].shape), acts[k].mean())
for k in sorted(grads):
    print(k, grads[k])
for h in handles:
    h.remove()
print(len(model[0]._forward_hooks), len(model[0]._backward_hooks))


def pre(module, args):
    print("pre", type(module).__name__, len(args))
    return (args[0] * 2,)


def with_kwargs(module, args, kwargs, output):
    print("post", sorted(kwargs))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 1)

    def forward(self, x, scale=1.0):
        return self.fc(x) * scale


net = Net()
net.register_forward_pre_hook(pre)
net.register_forward_hook(with_kwargs, with_kwargs=True)
net.fc.register_full_backward_pre_hook(lambda m, g: print("bpre", m, g[0].shape))
y = net(torch.ones(2, 4), scale=3.0)
y.sum().backward()
print(net.fc.weight.grad)

# node hooks
t = torch.rand(2, requires_grad=True)
c = t.exp().clone()
c.grad_fn.register_hook(lambda gi, go: print("node", gi, go))
c.grad_fn.register_prehook(lambda go: (go[0] * 10,))
c.sum().backward()
print(t.grad)
leaf = torch.ones(2, requires_grad=True)
def seven(p):
    p.grad.mul_(7)


leaf.register_post_accumulate_grad_hook(seven)
(leaf * 3).sum().backward()
print(leaf.grad)
try:
    leaf.detach().register_hook(print)
except RuntimeError as e:
    print(e)
try:
    (leaf * 2).register_post_accumulate_grad_hook(print)
except RuntimeError as e:
    print(e)
from torch.autograd.graph import register_multi_grad_hook

p, q = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
register_multi_grad_hook((p, q), lambda gs: print("multi", gs))
(p * q * 2).sum().backward()
mid = p * 2
register_multi_grad_hook((mid, q), lambda g: print("any", g), mode="any")
mid.retain_grad()
(mid * q).sum().backward()
print(mid.grad, mid.is_leaf, mid.retains_grad)
acc = p.expand_as(p).grad_fn.next_functions[0][0]
print(acc.name(), acc.variable is p)
acc.register_hook(lambda *_: print("accumulated", p.grad))
(p * 5).sum().backward()
