import torch
import torch.nn as nn

torch.manual_seed(2)


class Binarize(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.where(x >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output  # straight through


class BinaryLinear(nn.Linear):
    def forward(self, x):
        return nn.functional.linear(x, Binarize.apply(self.weight), self.bias)


net = nn.Sequential(BinaryLinear(8, 32), nn.BatchNorm1d(32), nn.Hardtanh(), BinaryLinear(32, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
x = torch.randn(128, 8)
y = (x[:, 0] + x[:, 1] > 0).long()
history = []
for epoch in range(40):
    loss = nn.functional.cross_entropy(net(x) / 8, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
