import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(47)
encoder = nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 8))
predictor = nn.Sequential(nn.Linear(8, 4), nn.ReLU(), nn.Linear(4, 8))


def D(p, z):
    return -F.cosine_similarity(p, z, dim=-1).mean()


params = list(encoder.parameters()) + list(predictor.parameters())
optimizer = torch.optim.SGD(params, lr=0.05, momentum=0.9)
for step in range(40):
    x = torch.randn(64, 8)
    x1, x2 = x + 0.1 * torch.randn_like(x), x + 0.1 * torch.randn_like(x)
    z1, z2 = encoder(x1), encoder(x2)
    p1, p2 = predictor(z1), predictor(z2)
    loss = D(p1, z2) / 2 + D(p2, z1) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
