import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
x = torch.randn(16, 4)
target = (x.sum(dim=1) > 0).long()

loss = nn.functional.cross_entropy(model(x), target)
loss.backward()
