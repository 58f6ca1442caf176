import torch
import torch.nn as nn
import torch.nn.functional as F

embedding = nn.Embedding(10, 3, padding_idx=0)
input = torch.LongTensor([[0, 2, 0, 5]])
out = embedding(input)
print(out)
out.sum().backward()
print(embedding.weight.grad[:6])
emb2 = nn.Embedding.from_pretrained(torch.FloatTensor([[1, 2.3, 3], [4, 5.1, 6.3]]))
print(emb2(torch.LongTensor([1])), emb2.weight.requires_grad)
m = nn.BatchNorm1d(4)
torch.manual_seed(3)
x = torch.randn(8, 4) * 2 + 1
y = m(x)
print(y.mean(0).abs().max() < 1e-6, m.running_mean, m.running_var, m.num_batches_tracked)
m.eval()
print(m(x)[0], m.state_dict().keys())
try:
    nn.BatchNorm1d(4)(torch.randn(1, 4))
except ValueError as e:
    print(e)
try:
    nn.Linear(3, 2)(torch.randn(4, 5))
except RuntimeError as e:
    print(e)
try:
    embedding(torch.tensor([11]))
except IndexError as e:
    print(e)
try:
    embedding(torch.tensor([1.0]))
except RuntimeError as e:
    print(e)
try:
    F.cross_entropy(torch.randn(3, 5), torch.tensor([1, 2]))
except ValueError as e:
    print(e)
try:
    F.nll_loss(torch.randn(3, 5), torch.tensor([1, 2, 7]))
except IndexError as e:
    print(e)
try:
    F.mse_loss(torch.randn(3), torch.randn(4))
except RuntimeError as e:
    print(e)
torch.manual_seed(1)
d = nn.Dropout(0.3)
big = torch.ones(20000, requires_grad=True)
o = d(big)
print(abs((o == 0).float().mean().item() - 0.3) < 0.02, abs(o.mean().item() - 1) < 0.03)
o.sum().backward()
print(torch.equal(big.grad, o.detach()))
d.eval()
print(d(big) is big, d)
try:
    nn.Dropout(1.5)
except ValueError as e:
    print(e)
torch.manual_seed(4)
ln = nn.LayerNorm([4])
gn = nn.GroupNorm(2, 4)
inorm = nn.InstanceNorm1d(4, affine=True)
t = torch.randn(2, 4, 5, requires_grad=True)
loss = gn(t).pow(3).sum() + inorm(t).pow(3).sum() + ln(t.transpose(1, 2)).pow(3).sum()
loss.backward()
print(t.grad[0, 0], gn(t).grad_fn.name(), ln(t.transpose(1, 2)).grad_fn.name(), inorm(t).grad_fn.name(), m(x).grad_fn.name())
print(F.embedding(torch.tensor([1]), torch.randn(3, 2, requires_grad=True)).grad_fn.name())
print(F.one_hot(torch.tensor([0, 2]), 3), F.cross_entropy(torch.eye(3), torch.tensor([0, 2, -100]), label_smoothing=0.1))
