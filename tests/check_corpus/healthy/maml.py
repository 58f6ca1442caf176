import torch
import torch.nn.functional as F

torch.manual_seed(20)


def forward(x, weights):
    w1, b1, w2, b2 = weights
    return torch.tanh(x @ w1 + b1) @ w2 + b2


weights = [
    (torch.randn(1, 20) * 0.5).requires_grad_(),
    torch.zeros(20, requires_grad=True),
    (torch.randn(20, 1) * 0.2).requires_grad_(),
    torch.zeros(1, requires_grad=True),
]
meta_optimizer = torch.optim.Adam(weights, lr=0.01)
history = []
for iteration in range(25):
    meta_loss = 0.0
    for task in range(4):
        amplitude, phase = torch.rand(1) + 0.5, torch.rand(1)
        x = torch.rand(20, 1) * 4 - 2
        y = amplitude * torch.sin(x + phase)
        inner = F.mse_loss(forward(x[:10], weights), y[:10])
        grads = torch.autograd.grad(inner, weights, create_graph=True)
        fast = [w - 0.1 * g for w, g in zip(weights, grads)]
        meta_loss = meta_loss + F.mse_loss(forward(x[10:], fast), y[10:])
    meta_optimizer.zero_grad()
    meta_loss.backward()
    meta_optimizer.step()
    history.append(meta_loss.item())
