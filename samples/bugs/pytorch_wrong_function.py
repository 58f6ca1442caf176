"""A custom autograd.Function of PyTorch whose backward is wrong: nothing raises, it learns badly.

The slope of x * sigmoid(x) is s + x * s * (1 - s); the second term was forgotten.
"""

import torch
from torch import nn


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        s = torch.sigmoid(x)
        ctx.save_for_backward(s)
        return x * s

    @staticmethod
    def backward(ctx, g):
        (s,) = ctx.saved_tensors
        return g * s


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 16)
        self.second = nn.Linear(16, 1)

    def forward(self, x):
        return self.second(Swish.apply(self.first(x)))


torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.randn(64, 2)
y = x[:, :1] * x[:, 1:]
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for _ in range(50):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss = {loss.item():.4f}")
