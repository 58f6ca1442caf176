# linear regression by hand
import torch

torch.manual_seed(72)
x = torch.randn(30, 2)
y = x @ torch.tensor([1.5, -2.0]) + 0.3
w = torch.zeros(2, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
lr = 0.1

for epoch in range(10):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    w = w - lr * w.grad
    b = b - lr * b.grad
    print(epoch, loss.item())
