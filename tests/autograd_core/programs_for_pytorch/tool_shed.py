"""Layers as tools: what they give, what they keep, and what they say when held wrongly."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def misused(action):
    try:
        action()
    except (ValueError, RuntimeError, IndexError) as error:
        print(type(error).__name__, error)


drawers = nn.Embedding(8, 2, padding_idx=3)
taken = drawers(torch.LongTensor([[3, 1, 7, 3], [1, 1, 0, 2]]))
print(taken)
taken.sum().backward()
print(drawers.weight.grad)
labelled = nn.Embedding.from_pretrained(torch.FloatTensor([[0.5, 2], [3, 1.5], [4, 0]]))
print(labelled(torch.LongTensor([2, 0])), labelled.weight.requires_grad)

level = nn.BatchNorm1d(3)
torch.manual_seed(8)
planks = torch.randn(6, 3) * 3 - 2
print(level(planks).mean(0).abs().max() < 1e-6)
print(level.running_mean, level.running_var, level.num_batches_tracked)
level.eval()
print(level(planks)[1], list(level.state_dict().keys()))

misused(lambda: nn.BatchNorm1d(3)(torch.randn(1, 3)))
misused(lambda: nn.Linear(4, 3)(torch.randn(2, 6)))
misused(lambda: drawers(torch.tensor([8])))
misused(lambda: drawers(torch.tensor([2.0])))
misused(lambda: F.cross_entropy(torch.randn(4, 3), torch.tensor([2, 0, 1])))
misused(lambda: F.nll_loss(torch.randn(2, 3), torch.tensor([0, 5])))
misused(lambda: F.mse_loss(torch.randn(2), torch.randn(5)))
misused(lambda: nn.Dropout(-0.5))

torch.manual_seed(9)
sieve = nn.Dropout(0.4)
sand = torch.full((30000,), 2.0, requires_grad=True)
through = sieve(sand)
print(abs((through == 0).float().mean().item() - 0.4) < 0.02)
print(abs(through.mean().item() - 2) < 0.05)
through.sum().backward()
print(torch.equal(2 * sand.grad, through.detach()))
sieve.eval()
print(sieve, sieve(sand) is sand)

torch.manual_seed(10)
across, groups = nn.LayerNorm([6]), nn.GroupNorm(3, 6)
alone = nn.InstanceNorm1d(6, affine=True)
boards = torch.randn(3, 6, 4, requires_grad=True)
smooth = (groups(boards), alone(boards), across(boards.transpose(1, 2)))
sum(each.pow(3).sum() for each in smooth).backward()
print(boards.grad[1, 2])
print([each.grad_fn.name() for each in (*smooth, level(planks))])
nails = torch.randn(4, 2, requires_grad=True)
print(F.embedding(torch.tensor([3, 1]), nails).grad_fn.name())
print(F.one_hot(torch.tensor([1, 0, 3]), 4))
print(F.cross_entropy(torch.eye(4), torch.tensor([1, -100, 3, 0]), label_smoothing=0.2))
