"""The mean over the rows of a class that is not in the batch: 0 / 0 is NaN, in the second batch.

The remedy is ``.sum(0) / mask.sum().clamp(min=1)``.
"""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Linear(4, 3)
for labels in (torch.tensor([0, 1, 2, 1]), torch.tensor([0, 1, 1, 0])):
    model.zero_grad()
    features = model(torch.randn(4, 4))
    centers = [features[labels == k].mean(0) for k in range(3)]
    loss = torch.stack(centers).pow(2).sum()
    loss.backward()
    print(f"loss = {loss.item():.4g}")
