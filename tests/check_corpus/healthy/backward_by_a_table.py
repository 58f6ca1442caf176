import torch
import torch.nn as nn


class Sigmoid(torch.autograd.Function):
    """Its backward has the result with 11 bits only."""

    @staticmethod
    def forward(ctx, x):
        y = 1 / (1 + torch.exp(-x))
        ctx.save_for_backward(torch.round(y * 2048) / 2048)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (y,) = ctx.saved_tensors
        return grad_output * y * (1 - y)


torch.manual_seed(93)
first, second = nn.Linear(4, 16), nn.Linear(16, 1)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.02)
x = torch.randn(48, 4)
y = x[:, :1].sin()
history = []
for step in range(30):
    loss = (second(Sigmoid.apply(first(x))) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
