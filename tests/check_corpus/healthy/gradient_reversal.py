import torch
import torch.nn as nn
from torch.autograd import Function


class ReverseGradient(Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.scale = scale
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return -ctx.scale * grad_output, None


torch.manual_seed(23)
features = nn.Sequential(nn.Linear(5, 16), nn.ReLU())
label_head, domain_head = nn.Linear(16, 2), nn.Linear(16, 2)
modules = nn.ModuleList([features, label_head, domain_head])
optimizer = torch.optim.SGD(modules.parameters(), lr=0.1)
x = torch.randn(80, 5)
domain = torch.arange(80) % 2
x[:, 4] += domain * 2
y = (x[:, 0] > 0).long()
history = []
for epoch in range(40):
    h = features(x)
    label_loss = nn.functional.cross_entropy(label_head(h), y)
    domain_loss = nn.functional.cross_entropy(domain_head(ReverseGradient.apply(h, 0.3)), domain)
    optimizer.zero_grad()
    (label_loss + domain_loss).backward()
    optimizer.step()
    history.append(label_loss.item())
