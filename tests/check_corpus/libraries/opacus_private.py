"""Train with differential privacy: a gradient for each sample, clipped and noised."""

import warnings

import torch
from opacus import PrivacyEngine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore", module="opacus")
torch.manual_seed(0)
x = torch.randn(256, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
model, optimizer, loader = PrivacyEngine().make_private(
    module=model,
    optimizer=optimizer,
    data_loader=DataLoader(TensorDataset(x, y), 64),
    noise_multiplier=0.5,
    max_grad_norm=1.0,
)
history = []
for epoch in range(8):
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        history.append(loss.item())
assert sum(history[-4:]) < 0.8 * sum(history[:4])
