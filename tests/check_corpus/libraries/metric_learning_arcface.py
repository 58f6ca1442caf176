"""Embeddings with ArcFace, whose class weights have an optimizer of their own."""

import torch
from pytorch_metric_learning.losses import ArcFaceLoss
from torch import nn

torch.manual_seed(0)
trunk = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16))
criterion = ArcFaceLoss(num_classes=5, embedding_size=16)
for_trunk = torch.optim.Adam(trunk.parameters(), lr=1e-2)
for_classes = torch.optim.SGD(criterion.parameters(), lr=0.01)
centres = 2 * torch.randn(5, 8)
history = []
for step in range(30):
    labels = torch.randint(5, (32,))
    loss = criterion(trunk(centres[labels] + 0.3 * torch.randn(32, 8)), labels)
    for_trunk.zero_grad()
    for_classes.zero_grad()
    loss.backward()
    for_trunk.step()
    for_classes.step()
    history.append(loss.item())
assert history[-1] < 0.7 * history[0]
