"""Minimize metrics of torchmetrics that have derivatives, while others are watched."""

import torch
from torch import nn
from torchmetrics.functional import pearson_corrcoef
from torchmetrics.functional.image import structural_similarity_index_measure
from torchmetrics.regression import MeanAbsoluteError

torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 3, padding=1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
watched = MeanAbsoluteError()
history = []
for step in range(25):
    clean = nn.functional.interpolate(torch.rand(8, 1, 4, 4), 16, mode="bilinear")
    said = model(clean + 0.2 * torch.randn_like(clean))
    similar = structural_similarity_index_measure(said, clean, data_range=1.0)
    loss = 2 - similar - pearson_corrcoef(said.flatten(), clean.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    watched.update(said.detach(), clean)
    history.append(loss.item())
assert watched.compute() < 1
assert history[-1] < 0.6 * history[0]
