import torch

torch.manual_seed(36)
x = torch.randn(50, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5]) + 0.7
w = torch.zeros(3, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
velocity = [torch.zeros(3), torch.zeros(1)]
history = []
for epoch in range(40):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p, v in zip((w, b), velocity):
            v.mul_(0.8).sub_(p.grad, alpha=0.05)
            p += v
            p.grad = None
    history.append(loss.item())
