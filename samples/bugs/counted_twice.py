"""A tied weight that is in the penalty twice, once under each of its names.

Encoder and decoder share one matrix, as language models do. The penalty goes over a list in
which it stands twice, so that it is held back twice as much as intended.
"""

import torch

torch.manual_seed(0)
weight = torch.randn(4, 4, requires_grad=True)
parameters = {"encoder.weight": weight, "decoder.weight": weight}

x = torch.randn(8, 4)
loss = ((x @ weight).tanh() @ weight.t() - x).pow(2).mean()
penalty = sum(parameter.pow(2).sum() for parameter in parameters.values())
(loss + penalty).backward()

print(f"{len(parameters)} names, {len(set(map(id, parameters.values())))} tensor")
