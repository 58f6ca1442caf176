"""BYOL with lightly: a predictor, and a teacher that follows by momentum."""

import copy

import torch
from lightly.loss import NegativeCosineSimilarity
from lightly.models.modules import BYOLPredictionHead, BYOLProjectionHead
from lightly.models.utils import deactivate_requires_grad, update_momentum
from torch import nn

torch.manual_seed(0)
student = nn.Sequential(
    nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), BYOLProjectionHead(32, 32, 16)
)
predictor = BYOLPredictionHead(16, 32, 16)
teacher = copy.deepcopy(student)
deactivate_requires_grad(teacher)
criterion = NegativeCosineSimilarity()
optimizer = torch.optim.SGD([*student.parameters(), *predictor.parameters()], lr=0.1)
history = []
for step in range(30):
    x = torch.randn(32, 8)
    first, second = x + 0.2 * torch.randn_like(x), x + 0.2 * torch.randn_like(x)
    update_momentum(student, teacher, m=0.95)
    with torch.no_grad():
        wanted = teacher(second), teacher(first)
    said = predictor(student(first)), predictor(student(second))
    loss = 0.5 * (criterion(said[0], wanted[0]) + criterion(said[1], wanted[1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < history[0] - 0.3
