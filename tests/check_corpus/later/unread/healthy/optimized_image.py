import torch
import torch.nn.functional as F
from torch import nn


class Features(nn.Module):
    """A fixed network of random filters, whose statistics are the style."""

    def __init__(self, width=12):
        super().__init__()
        self.layers = nn.ModuleList(
            [nn.Conv2d(1, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)]
        )
        self.requires_grad_(False)

    def forward(self, x):
        outputs = []
        for layer in self.layers:
            x = F.leaky_relu(layer(x), 0.1)
            outputs.append(x)
            x = F.avg_pool2d(x, 2)
        return outputs


def gram(features):
    flat = features.flatten(2)
    return flat @ flat.transpose(1, 2) / flat.size(2)


def total_variation(x):
    across = (x[..., 1:] - x[..., :-1]).abs().mean()
    return across + (x[..., 1:, :] - x[..., :-1, :]).abs().mean()


def stripes(size=24):
    grid = torch.arange(float(size))
    return torch.sin(0.9 * (grid[None, :] + grid[:, None]))[None, None]


def disc(size=24):
    grid = torch.linspace(-1, 1, size)
    return (1 - 2 * (grid[None, :] ** 2 + grid[:, None] ** 2)).clamp(-1, 1)[None, None]


torch.manual_seed(31)
network = Features()
with torch.no_grad():
    style = [gram(each) for each in network(stripes())]
    content = network(disc())[-1]
image = nn.Parameter(disc() + 0.1 * torch.randn(1, 1, 24, 24))
optimizer = torch.optim.Adam([image], lr=0.05)
for iteration in range(150):
    features = network(image)
    style_loss = sum(F.mse_loss(gram(each), goal) for each, goal in zip(features, style))
    content_loss = F.mse_loss(features[-1], content)
    loss = 50 * style_loss + content_loss + 0.02 * total_variation(image)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        image.clamp_(-1.5, 1.5)
    if iteration % 50 == 49:
        print(f"iteration {iteration}: style {style_loss.item():.5f}, content {content_loss:.4f}")
