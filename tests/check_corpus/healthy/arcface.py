import torch
from torch import nn
from torch.nn.functional import cross_entropy, normalize, one_hot

torch.manual_seed(5)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 16))
centers = nn.Parameter(torch.randn(3, 16))
optimizer = torch.optim.Adam([*net.parameters(), centers], lr=1e-2)
labels = torch.arange(60) % 3
x = 3 * one_hot(labels, 10) + 0.3 * torch.randn(60, 10)
labels[:6] = (labels[:6] + 1) % 3  # some are wrong, as in any data
history = []
for step in range(40):
    cosine = normalize(net(x)) @ normalize(centers).T
    angle = torch.acos(cosine.clamp(-1 + 1e-6, 1 - 1e-6))
    loss = cross_entropy(64 * torch.cos(angle + 0.5 * one_hot(labels, 3)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
