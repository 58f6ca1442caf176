import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient):
        return -ctx.strength * gradient, None


class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.label = nn.Linear(16, 2)
        self.domain = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x, strength):
        features = self.features(x)
        return self.label(features), self.domain(Reverse.apply(features, strength)).squeeze(1)


def make(count, shift):
    x = torch.randn(count, 6)
    y = (x[:, 0] + x[:, 1] > 0).long()
    x[:, 3:] += shift
    return TensorDataset(x, y)


torch.manual_seed(4)
source = DataLoader(make(640, 0.0), batch_size=32, shuffle=True)
target = DataLoader(make(640, 1.5), batch_size=32, shuffle=True)
held_out = make(300, 1.5)
model = DANN()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
epochs = 6
for epoch in range(epochs):
    for step, ((xs, ys), (xt, _)) in enumerate(zip(source, target)):
        progress = (epoch + step / len(source)) / epochs
        strength = 0.3 * (2 / (1 + math.exp(-10 * progress)) - 1)
        labels, source_domain = model(xs, strength)
        _, target_domain = model(xt, strength)
        domains = torch.cat([source_domain, target_domain])
        truth = torch.cat([torch.zeros(len(xs)), torch.ones(len(xt))])
        domain_loss = F.binary_cross_entropy_with_logits(domains, truth)
        loss = F.cross_entropy(labels, ys) + domain_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        x, y = held_out.tensors
        accuracy = (model(x, 0.0)[0].argmax(1) == y).float().mean().item()
    print(f"epoch {epoch}: domain loss {domain_loss.item():.3f}, accuracy {accuracy:.3f}")
