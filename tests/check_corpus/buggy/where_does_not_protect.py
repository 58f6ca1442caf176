import torch
import torch.nn as nn

torch.manual_seed(14)
counts = torch.tensor([3.0, 0.0, 5.0, 1.0])
clicks = torch.tensor([1.0, 0.0, 4.0, 1.0])

price = torch.rand(4, 1)
weight = nn.Parameter(torch.randn(1, 1))
bias = nn.Parameter(torch.zeros(1))
optimizer = torch.optim.SGD([weight, bias], lr=0.05)

for i in range(20):
    expected = (price @ weight + bias).squeeze(1)
    rate = expected / counts
    rate = torch.where(counts == 0, torch.zeros_like(rate), rate)
    loss = ((rate - clicks / counts.clamp(min=1)) ** 2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

print(weight, bias)
