"""A head that is replaced after the optimizer was made: the new one gets gradients, and no steps.

The remedy is to make the optimizer after the last change of the model.
"""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model[2] = nn.Linear(16, 3)  # three classes here
images, labels = torch.randn(12, 6), torch.arange(12) % 3
before = model[2].weight.detach().clone()
for _ in range(3):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(images), labels).backward()
    optimizer.step()
print("the head has moved:", not torch.equal(before, model[2].weight))
