import torch
import torch.nn as nn
import torch.nn.functional as F


class MaskedLinear(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) * 0.3)
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.register_buffer("mask", (torch.rand(outputs, inputs) > 0.3).float())

    def forward(self, x):
        weight = nn.Parameter(self.weight * self.mask)
        return F.linear(x, weight, self.bias)


torch.manual_seed(102)
x = torch.randn(24, 6)
y = x[:, :3].argmax(1)
model = nn.Sequential(MaskedLinear(6, 12), nn.ReLU(), MaskedLinear(12, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(8):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())
