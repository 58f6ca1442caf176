import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call, grad, vmap


class Net(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, x):
        return self.net(x)


def sample_tasks(count, shots=10):
    height = 0.5 + 2 * torch.rand(count, 1, 1)
    phase = 3.14 * torch.rand(count, 1, 1)
    x = 6 * torch.rand(count, 2 * shots, 1) - 3
    y = height * torch.sin(x + phase)
    return x[:, :shots], y[:, :shots], x[:, shots:], y[:, shots:]


def task_loss(parameters, x, y):
    return F.mse_loss(functional_call(model, parameters, (x,)), y)


def adapted_loss(parameters, x, y, query_x, query_y, rate=0.05, steps=2):
    for _ in range(steps):
        slopes = grad(task_loss)(parameters, x, y)
        parameters = {name: p - rate * slopes[name] for name, p in parameters.items()}
    return task_loss(parameters, query_x, query_y)


def losses_of(parameters, tasks):
    return vmap(adapted_loss, in_dims=(None, 0, 0, 0, 0))(parameters, *tasks)


torch.manual_seed(39)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for iteration in range(100):
    parameters = dict(model.named_parameters())
    loss = losses_of(parameters, sample_tasks(16)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if iteration % 25 == 24:
        with torch.no_grad():
            held_out = losses_of(parameters, sample_tasks(100)).mean().item()
        print(f"iteration {iteration}: loss {loss.item():.3f}, new tasks {held_out:.3f}")
