import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 16))
optimizer = torch.optim.Adam(encoder.parameters(), 1e-3)
data = torch.randn(256, 12)
for step in range(30):
    x = data[torch.randperm(256)[:32]]
    a, b = encoder(x + 0.2 * torch.randn_like(x)), encoder(x + 0.2 * torch.randn_like(x))
    a, b = F.normalize(a, dim=0), F.normalize(b, dim=0)
    loss = F.cross_entropy(a @ b.T / 0.1, torch.arange(32))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
