"""Ops with several results, whose columns have unlike widths."""

import torch

torch.manual_seed(0)

x = torch.randn(6, 4, requires_grad=True)
a, b, c = x.split(2)
q, r = torch.linalg.qr(x)
s, j = x.sort(0)
v, i = x.max(1)
loss = (a * b).sum() + c.exp().mean() + v.sum() + (q * q[:1]).sum() + s[0].sum()
loss.backward()
