import torch
import torch.nn as nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

calls = []


class Block(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.n = n
        self.ln = nn.LayerNorm(d)
        self.fc1 = nn.Linear(d, 2 * d)
        self.fc2 = nn.Linear(2 * d, d)

    def forward(self, x):
        calls.append(self.n)
        return x + self.fc2(nn.functional.gelu(self.fc1(self.ln(x))))


class Net(nn.Module):
    def __init__(self, use):
        super().__init__()
        self.blocks = nn.ModuleList([Block(i, 6) for i in range(3)])
        self.head = nn.Linear(6, 2)
        self.use = use

    def forward(self, x):
        for block in self.blocks:
            if self.use is None:
                x = block(x)
            else:
                x = checkpoint(block, x, use_reentrant=self.use)
        return self.head(x)


x = torch.randn(4, 6, requires_grad=True)
reference = None
state = None
for use in (None, True, False):
    net = Net(use)
    if state is None:
        state = net.state_dict()
    print(net.load_state_dict(state))
    x.grad = None
    calls.clear()
    out = net(x)
    loss = out.logsumexp(1).mean()
    loss.backward()
    print(use, calls, loss.item(), x.grad.sum())
    gs = torch.cat([p.grad.flatten() for p in net.parameters()])
    if reference is None:
        reference = gs
    print(torch.allclose(gs, reference))
    print(out.grad_fn.next_functions[1][0].name())
seq = nn.Sequential(*[nn.Sequential(nn.Linear(6, 6), nn.Tanh()) for _ in range(4)])
y = checkpoint_sequential(seq, 2, x, use_reentrant=False)
y.sum().backward()
print(seq[0][0].weight.grad.sum(), y.grad_fn.name())
y = checkpoint(seq, x.detach(), use_reentrant=True)
print(y.requires_grad)
y = checkpoint(seq, x.detach(), use_reentrant=False)
print(y.requires_grad)
