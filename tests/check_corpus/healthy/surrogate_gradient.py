import torch
import torch.nn as nn
import torch.nn.functional as F


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, voltage):
        ctx.save_for_backward(voltage)
        return (voltage > 0).float()

    @staticmethod
    def backward(ctx, grad_output):
        (voltage,) = ctx.saved_tensors
        return grad_output / (1 + 5 * voltage.abs()) ** 2


torch.manual_seed(60)
first, second = nn.Linear(6, 24), nn.Linear(24, 3)
optimizer = torch.optim.Adam([*first.parameters(), *second.parameters()], lr=0.02)
x = torch.randn(48, 6)
y = torch.argmax(x[:, :3], dim=1)
history = []
for step in range(30):
    voltage, rate = torch.zeros(48, 24), torch.zeros(48, 3)
    current = first(x)
    for moment in range(5):
        voltage = 0.8 * voltage + current
        spikes = Spike.apply(voltage - 1)
        voltage = voltage - spikes.detach()
        rate = rate + second(spikes) / 5
    loss = F.cross_entropy(rate, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
