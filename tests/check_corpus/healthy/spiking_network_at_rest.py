import torch
from torch import nn

torch.manual_seed(1)


class ATan(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, alpha):
        ctx.save_for_backward(x)
        ctx.alpha = alpha
        return torch.heaviside(x, torch.ones_like(x))

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * ctx.alpha / 2 / (1 + (torch.pi / 2 * ctx.alpha * x) ** 2), None


class LIF(nn.Module):
    def forward(self, current):
        v, spikes = torch.zeros_like(current[0]), []
        for x in current:
            v = v + (x - v) / 2.0
            s = ATan.apply(v - 1.0, 2.0)
            v = v * (1 - s.detach())
            spikes.append(s)
        return torch.stack(spikes)


net = nn.Sequential(nn.Linear(8, 32), LIF(), nn.Linear(32, 3), LIF())
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
inputs = 3 * torch.randn(32, 8)
labels = inputs[:, :3].argmax(1)
target = nn.functional.one_hot(labels, 3).float()
history = []
for epoch in range(40):
    rate = net(inputs.expand(5, 32, 8)).mean(0)
    loss = nn.functional.mse_loss(rate, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
