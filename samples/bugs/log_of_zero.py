"""A cross entropy by hand: the softmax of one row underflows to 0, and its logarithm is −inf.

The remedy is ``log_softmax``, or ``cross_entropy`` of the scores.
"""

import torch

torch.manual_seed(0)
torch.set_num_threads(1)
scores = torch.randn(6, 3)
scores[4] = torch.tensor([300.0, 0.0, -300.0])
scores.requires_grad_()
target = torch.nn.functional.one_hot(torch.tensor([0, 1, 2, 0, 2, 1]), 3)
probability = torch.softmax(scores, 1)
loss = -(target * torch.log(probability)).sum()
loss.backward()
print("loss =", loss.item())
