"""Leaky neurons that spike, with a surrogate gradient, unrolled over time."""

import snntorch as snn
import torch
from snntorch import functional as SF
from snntorch import surrogate
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        slope = surrogate.fast_sigmoid(slope=25)
        self.first, self.leaky = nn.Linear(8, 32), snn.Leaky(0.9, spike_grad=slope)
        self.second, self.output = nn.Linear(32, 3), snn.Leaky(0.9, spike_grad=slope)

    def forward(self, x, steps=10):
        hidden, out, spikes = self.leaky.init_leaky(), self.output.init_leaky(), []
        for _ in range(steps):
            fired, hidden = self.leaky(self.first(x), hidden)
            answer, out = self.output(self.second(fired), out)
            spikes.append(answer)
        return torch.stack(spikes)


model = Net()
criterion = SF.mse_count_loss(correct_rate=0.8, incorrect_rate=0.2)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
history = []
for step in range(30):
    labels = torch.randint(3, (32,))
    x = 0.5 * torch.randn(32, 8)
    x[torch.arange(32), labels] += 2
    loss = criterion(model(x), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    history.append(loss.item())
assert history[-1] < 0.7 * history[0]
