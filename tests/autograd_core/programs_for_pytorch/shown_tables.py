"""How tensors and modules show themselves, and what they answer to wrong questions."""

import numpy as np
import torch

table = torch.Tensor([[4, 0, 9], [1, 16, 25]])
print(table, type(table))
print(table.dtype, table.layout, table.device)
print(torch.Tensor(3, 1).shape, torch.LongTensor(4, 2).size())
print(table.new([7, 8]), torch.FloatTensor([0.5]))


def asked(question):
    try:
        print(question())
    except Exception as error:
        print(type(error).__name__, error)


asked(lambda: table[1, 5])
asked(lambda: table[4])
asked(lambda: table[torch.tensor([False])])
asked(lambda: table[:, None, 0, 9])
asked(lambda: table.gather(0, torch.tensor([1])))
asked(lambda: torch.bmm(table, table))
asked(lambda: torch.einsum("abc", table))
asked(lambda: torch.nn.Linear(3, 2)(table.double()))
asked(lambda: torch.nn.functional.cross_entropy(table, torch.tensor([1.0, 0.0])))
asked(lambda: torch.allclose(table, table.double()))
asked(lambda: table.view(4))
asked(lambda: torch.Tensor("table"))


def changed(place, value):
    copy = table.clone()
    copy[place] = value
    return copy


asked(lambda: changed(1, torch.ones(4)))
asked(lambda: changed(table > 8, torch.ones(2)))
asked(lambda: changed((1, 1), "x"))
asked(lambda: changed(1, torch.full((1, 3), -1.0)))
asked(lambda: changed((slice(None), [2, 1]), 5.0))
asked(lambda: changed(table > 8, table[table > 8].sqrt()))

print(np.sqrt(table.numpy()))
print((np.float64(3) * table).dtype)
print(table.numpy() @ np.arange(3))
print(torch.from_numpy(np.zeros(3)) - 2)
print(torch.as_tensor(np.arange(4)))
print(torch.asarray([0.25, 4]))
print(np.asarray(table).mean())

leaf = torch.full((3,), 2.0, requires_grad=True)
made = (leaf * -1).relu()
print(made)
print(made.grad_fn.name(), [type(node).__name__ for node, _ in made.grad_fn.next_functions])
print(made.is_leaf, made.requires_grad, torch.detach(leaf))
print(torch.aminmax(table))
print(torch.frexp(table[1]))
print(torch.max(table, dim=0))
print(table.sort(descending=True))
print(torch.histc(table, 5, 0, 25))
print(torch.isin(table, torch.tensor([9.0, 16.0])))
print(torch.unique_consecutive(torch.tensor([3, 3, 3, 1, 3]), return_counts=True))
print(torch.hann_window(6))
print(torch.einsum(table, [1, 0], table, [1, 2], [0, 2]))
print(table.polygamma(2))
print(torch.get_default_dtype(), torch.typename(table))
print(torch.is_nonzero(torch.tensor(2.0)))

nn = torch.nn
chain = nn.Sequential(nn.Linear(2, 5), nn.Tanh())
chain.extend([nn.Dropout(0.25), nn.Linear(5, 3)])
chain.insert(2, nn.LayerNorm(5))
del chain[1]
print(chain)
print(chain + nn.Sequential(nn.Softmax(0)))
print(nn.ModuleList([nn.Tanh()]) + [nn.ReLU()])
print(nn.MultiheadAttention(6, 3))
print(nn.Embedding.from_pretrained(table, freeze=False))
print(nn.Embedding.from_pretrained(table).weight.requires_grad)
print(chain.state_dict().keys())
