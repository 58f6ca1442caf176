import numpy as np
import torch

x = torch.Tensor([[1, 2, 3], [4, 5, 6]])
print(x)
print(type(x))
print(x.dtype)
print(x.layout)
print(x.device)
print(torch.Tensor(2, 3).shape)
print(x.new([1, 2]))
print(torch.FloatTensor([1]))
print(torch.LongTensor(2, 2).size())


def tried(f):
    try:
        print(f())
    except Exception as e:
        print(type(e).__name__, e)


tried(lambda: x[0, 3])
tried(lambda: x[2])
tried(lambda: x[torch.tensor([True])])
tried(lambda: x[:, None, 1, 7])
tried(lambda: x.gather(1, torch.tensor([0])))
tried(lambda: torch.bmm(x, x))
tried(lambda: torch.einsum("ijk", x))
tried(lambda: torch.nn.Linear(3, 1)(x.double()))
tried(lambda: torch.nn.functional.cross_entropy(x, torch.tensor([0.0, 1.0])))
tried(lambda: torch.allclose(x, x.double()))
tried(lambda: x.view(5))
tried(lambda: torch.Tensor("a"))


def assigned(key, value):
    y = x.clone()
    y[key] = value
    return y


tried(lambda: assigned(0, torch.ones(5)))
tried(lambda: assigned(x > 2, torch.ones(2)))
tried(lambda: assigned((0, 0), "a"))
tried(lambda: assigned(0, torch.ones(1, 3)))
tried(lambda: assigned((slice(None), [0, 2]), 0.0))
tried(lambda: assigned(x > 2, -x[x > 2]))
print(np.sqrt(x.numpy()))
print((np.float64(2) * x).dtype)
print(x.numpy() @ np.ones(3))
print(torch.from_numpy(np.ones(2)) + 1)
print(torch.as_tensor(np.arange(3)))
print(torch.asarray([1.5]))
print(np.asarray(x).sum())
w = torch.ones(2, requires_grad=True)
y = (w * 3).relu()
print(y)
print(y.grad_fn.name())
print([type(n).__name__ for n, _ in y.grad_fn.next_functions])
print(y.is_leaf)
print(y.requires_grad)
print(torch.aminmax(x))
print(torch.frexp(x[0]))
print(torch.max(x, dim=1))
print(x.sort(descending=True))
print(torch.histc(x, 3, 0, 6))
print(torch.isin(x, torch.tensor([2.0, 5.0])))
print(torch.unique_consecutive(torch.tensor([1, 1, 2, 1]), return_counts=True))
print(torch.hann_window(5))
print(torch.einsum(x, [0, 1], x, [2, 1], [0, 2]))
print(x.polygamma(1))
print(torch.get_default_dtype())
print(torch.typename(x))
print(torch.is_nonzero(torch.tensor(0.0)))
print(torch.detach(w))
nn = torch.nn
s = nn.Sequential(nn.Linear(3, 4), nn.ReLU())
s.extend([nn.Dropout(0.1), nn.Linear(4, 2)])
s.insert(1, nn.LayerNorm(4))
del s[3]
print(s)
print(s + nn.Sequential(nn.Softmax(-1)))
print(nn.ModuleList([nn.ReLU()]) + [nn.Tanh()])
print(nn.MultiheadAttention(4, 2))
print(nn.EmbeddingBag(5, 2, mode="sum", padding_idx=1))
print(nn.Embedding.from_pretrained(x, freeze=False))
print(nn.Embedding.from_pretrained(x).weight.requires_grad)
print(s.state_dict().keys())
