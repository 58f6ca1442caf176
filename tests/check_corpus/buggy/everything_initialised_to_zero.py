import torch
import torch.nn as nn


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.zeros_(m.weight)
        nn.init.zeros_(m.bias)


torch.manual_seed(32)
net = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
net.apply(init_weights)
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
x = torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
for epoch in range(60):
    optimizer.zero_grad()
    loss = nn.functional.binary_cross_entropy_with_logits(net(x), y)
    loss.backward()
    optimizer.step()
print("xor", loss.item())
