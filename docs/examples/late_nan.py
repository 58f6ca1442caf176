import torch
from torch import nn

torch.manual_seed(0)
pairs = torch.randn(1400, 8, 2, 6)
pairs[1336, 5, 1] = pairs[1336, 5, 0]  # somewhere in the data, both of a pair are the same

encoder = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 4))
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.01)
for step, pair in enumerate(pairs, 1):
    optimizer.zero_grad()
    apart = encoder(pair[:, 0]) - encoder(pair[:, 1])
    distance = apart.pow(2).sum(dim=1).sqrt()
    loss = (distance - 1).pow(2).mean()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step}: loss {loss.item():.3f}")
