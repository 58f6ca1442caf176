"""Every pupil's own share in a gradient, and how much two pupils have in common."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call, grad, jacfwd, jacrev, vjp, vmap

teacher = nn.Sequential(nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 3))
papers, marks = torch.randn(5, 5), torch.tensor([1, 0, 2, 2, 1])
views = {name: view.detach() for name, view in teacher.named_parameters()}
notes = {name: note.detach() for name, note in teacher.named_buffers()}


def surprise(views, notes, paper, mark):
    read = functional_call(teacher, (views, notes), (paper.unsqueeze(0),))
    return F.cross_entropy(read, mark.unsqueeze(0))


shares = vmap(grad(surprise), in_dims=(None, None, 0, 0))(views, notes, papers, marks)
for name, share in shares.items():
    print(name, tuple(share.shape), share.requires_grad)
F.cross_entropy(teacher(papers), marks).backward()
for name, view in teacher.named_parameters():
    print(name, torch.allclose(view.grad, shares[name].mean(0), atol=1e-6))


def read(views, paper):
    return functional_call(teacher, views, (paper.unsqueeze(0),)).squeeze(0)


def in_common(first, second):
    one, other = (
        [each.flatten(2) for each in vmap(jacrev(read), (None, 0))(views, some).values()]
        for some in (first, second)
    )
    parts = [torch.einsum("pam,qbm->pqab", left, right) for left, right in zip(one, other)]
    return torch.stack(parts).sum(0)


shared = in_common(papers, papers[3:])
print(shared.shape, shared[3, 0], torch.allclose(shared[3, 0], shared[3, 0].T, atol=1e-5))
print(
    torch.allclose(jacfwd(read, 1)(views, papers[0]), jacrev(read, 1)(views, papers[0]), atol=1e-6)
)


def effort(hours):
    return (hours**3).sum()


print(vmap(grad(effort))(torch.arange(8.0).reshape(4, 2)))
print(vmap(torch.dot)(torch.full((2, 3), 2.0), torch.ones(2, 3)))
grown, back = vjp(lambda hours: hours**3, torch.arange(4.0))
print(grown, vmap(back)(torch.eye(4)))
