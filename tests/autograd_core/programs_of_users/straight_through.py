import torch
import torch.nn as nn
import torch.nn.functional as F


class BinarizeSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        ctx.save_for_backward(i)
        return i.sign()

    @staticmethod
    def backward(ctx, grad_o):
        i, = ctx.saved_tensors
        return grad_o * (i.abs() <= 1).type(grad_o.dtype)


class RoundSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, levels):
        ctx.levels = levels
        return torch.round(x * levels) / levels

    @staticmethod
    def backward(ctx, g):
        return g, None


x = torch.tensor([-1.5, -0.3, 0.0, 0.4, 2.0], requires_grad=True)
y = BinarizeSTE.apply(x)
print(y)
y.sum().backward()
print(x.grad)
z = x + (x.round() - x).detach()
z.pow(2).sum().backward()
print(x.grad, z)


class QuantLinear(nn.Linear):
    def __init__(self, *args, bits=3, **kwargs):
        super().__init__(*args, **kwargs)
        self.bits = bits

    def forward(self, x):
        return F.linear(x, RoundSTE.apply(self.weight, 2 ** self.bits), self.bias)


net = nn.Sequential(QuantLinear(4, 8, bits=2), nn.Hardtanh(), QuantLinear(8, 1, bias=False))
print(net)
opt = torch.optim.AdamW(net.parameters(), lr=0.05, weight_decay=0.01)
data, target = torch.randn(20, 4), torch.randn(20, 1)
for _ in range(15):
    opt.zero_grad()
    loss = (net(data) - target).pow(2).mean()
    loss.backward()
    opt.step()
print(loss)
# gumbel-softmax-like
logits = torch.tensor([[0.1, 2.0, -1.0]], requires_grad=True)
soft = F.softmax(logits / 0.5, dim=-1)
index = soft.max(-1, keepdim=True)[1]
hard = torch.zeros_like(logits).scatter_(-1, index, 1.0)
ret = hard - soft.detach() + soft
(ret * torch.tensor([1., 2., 3.])).sum().backward()
print(ret, logits.grad)


# gradient reversal
class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lambd):
        ctx.lambd = lambd
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.lambd, None


f = torch.ones(2, requires_grad=True)
r = GradReverse.apply(f, 0.3)
print(r.grad_fn.name(), r._is_view() if hasattr(r, "_is_view") else None)
r.sum().backward()
print(f.grad)
print(torch.equal(r, f), r.data_ptr() == f.data_ptr())
