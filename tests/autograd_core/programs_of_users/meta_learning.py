import torch
from torch import nn
import torch.nn.functional as F
from collections import OrderedDict

torch.manual_seed(3)


class MamlModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(OrderedDict([('l1', nn.Linear(1, 20)), ('relu1', nn.ReLU()), ('l2', nn.Linear(20, 20)), ('relu2', nn.ReLU()), ('l3', nn.Linear(20, 1))]))

    def forward(self, x):
        return self.net(x)

    def parameterised(self, x, weights):
        x = F.relu(F.linear(x, weights[0], weights[1]))
        x = F.relu(F.linear(x, weights[2], weights[3]))
        return F.linear(x, weights[4], weights[5])


model = MamlModel()
weights = list(model.parameters())
opt = torch.optim.Adam(weights, 1e-3)
criterion = nn.MSELoss()


def inner(a, b, steps=3):
    temp = [w.clone() for w in weights]
    x = torch.rand(10, 1) * 10 - 5
    y = a * torch.sin(x + b)
    for step in range(steps):
        loss = criterion(model.parameterised(x, temp), y) / 10
        grad = torch.autograd.grad(loss, temp, create_graph=True)
        temp = [w - 0.01 * g for w, g in zip(temp, grad)]
    x = torch.rand(10, 1) * 10 - 5
    y = a * torch.sin(x + b)
    return criterion(model.parameterised(x, temp), y) / 10


for it in range(4):
    meta_loss = 0
    for task in range(2):
        meta_loss += inner(1.0 + task, 0.3 * it)
    meta_grads = torch.autograd.grad(meta_loss, weights)
    for w, g in zip(weights, meta_grads):
        w.grad = g
    opt.step()
    print(it, meta_loss.item() / 2, [round(float(g.abs().sum()), 4) for g in meta_grads])

# fast weights by state dict and functional_call
from torch.func import functional_call

params = dict(model.named_parameters())
x = torch.linspace(-1, 1, 5).unsqueeze(1)
loss = functional_call(model, params, (x,)).pow(2).sum()
names = list(params)
gs = torch.autograd.grad(loss, list(params.values()), create_graph=True)
fast = {n: p - 0.1 * g for n, p, g in zip(names, params.values(), gs)}
outer = functional_call(model, fast, (x,)).pow(2).sum()
outer.backward()
print(model.net.l1.weight.grad.flatten()[:5])
