import torch
from torch import nn
from torch.nn import functional as F


class InfoNCE(nn.Module):
    def __init__(self, temperature=0.1):
        super().__init__()
        self.temperature = temperature

    def forward(self, first, second):
        first, second = F.normalize(first, dim=1), F.normalize(second, dim=1)
        return F.cross_entropy(first @ second.T, torch.arange(len(first)))


torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 16))
criterion = InfoNCE(0.07)
optimizer = torch.optim.Adam(encoder.parameters(), 1e-3)
data = torch.randn(256, 12)
for step in range(30):
    x = data[torch.randperm(256)[:32]]
    views = [x + 0.2 * torch.randn_like(x) for _ in range(2)]
    loss = criterion(encoder(views[0]), encoder(views[1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
