import torch
import torch.nn as nn
from torch.nn.utils import spectral_norm

torch.manual_seed(22)
critic = nn.Sequential(spectral_norm(nn.Linear(2, 16)), nn.ReLU(), spectral_norm(nn.Linear(16, 1)))
optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
history = []
for step in range(40):
    real, fake = torch.randn(32, 2) + 2, torch.randn(32, 2)
    loss = torch.relu(1 - critic(real)).mean() + torch.relu(1 + critic(fake)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
