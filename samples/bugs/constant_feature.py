"""A feature that is the same in every row: dividing by its standard deviation of 0 gives NaN.

The NaN is in the data before the model sees it. The remedy is ``/ (std + 1e-8)``, or to leave the
feature out.
"""

import torch
from torch import nn

torch.manual_seed(0)
features = torch.randn(20, 4)
features[:, 2] = 7.0
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
inputs = (features - features.mean(0)) / features.std(0)
loss = model(inputs).pow(2).mean()
loss.backward()
print("loss =", loss.item())
