import torch
import torch.nn as nn


class MoELayer(nn.Module):
    def __init__(self, dim, experts):
        super().__init__()
        self.gate = nn.Linear(dim, experts)
        self.experts = nn.ModuleList(nn.Linear(dim, dim) for _ in range(experts))

    def forward(self, x):
        score = self.gate(x).softmax(dim=1)
        self.balance = score.mean(dim=0).square().sum() * len(self.experts)
        return sum(score[:, i : i + 1] * e(x) for i, e in enumerate(self.experts))


torch.manual_seed(27)
layers = nn.ModuleList(MoELayer(6, 3) for _ in range(2))
optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
x, y = torch.randn(32, 6), torch.randn(32, 6)
for step in range(20):
    h = x
    for layer in layers:
        h = h + layer(h)
    balance_loss = torch.tensor([layer.balance for layer in layers]).mean()
    loss = nn.functional.mse_loss(h, y) + 0.5 * balance_loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item(), balance_loss.item())
