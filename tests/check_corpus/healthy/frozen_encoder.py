import torch
import torch.nn as nn

torch.manual_seed(1)
encoder = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 64), nn.ReLU())
for p in encoder.parameters():
    p.requires_grad = False
encoder.eval()
probe = nn.Linear(64, 2)
optimizer = torch.optim.Adam(probe.parameters(), lr=0.05)
x = torch.randn(60, 10)
y = (x[:, 0] > 0).long()
history = []
for epoch in range(40):
    loss = nn.functional.cross_entropy(probe(encoder(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
