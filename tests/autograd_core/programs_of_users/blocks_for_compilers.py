import torch
import torch.fx
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.modules.utils import _pair
from typing import List
from torch import Tensor


def _stochastic_depth(x: Tensor, p: float, training: bool) -> Tensor:
    if not training or p == 0.0:
        return x
    keep = torch.rand([x.shape[0]] + [1] * (x.ndim - 1)) < 1 - p
    return x * keep / (1 - p)


torch.fx.wrap("_stochastic_depth")


@torch.jit.script_if_tracing
def scaled(x: Tensor, by: float) -> Tensor:
    return x * by


class Patches(nn.Module):
    __constants__ = ["size"]
    size: torch.jit.Final[int]

    def __init__(self, size, width):
        super().__init__()
        self.size = size
        self.conv = nn.Conv2d(3, width, _pair(size), _pair(size))
        fan_in, _ = nn.init._calculate_fan_in_and_fan_out(self.conv.weight)
        nn.init.normal_(self.conv.weight, std=fan_in**-0.5)

    def forward(self, x):
        n, c, h, w = x.shape
        torch._assert(h % self.size == 0, f"height {h} is no multiple of {self.size}")
        return self.conv(x).flatten(2).transpose(1, 2)


class Dense(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(2 * width)
        self.out = nn.Linear(2 * width, width)

    def any_requires_grad(self, parts: List[Tensor]) -> bool:
        return any(part.requires_grad for part in parts)

    @torch.jit.unused
    def checkpointed(self, parts):
        return torch.utils.checkpoint.checkpoint(self.joined, *parts, use_reentrant=False)

    def joined(self, *parts):
        return self.out(F.gelu(self.norm(torch.cat(parts, -1))))

    @torch.jit._overload_method  # noqa: F811
    def forward(self, parts: List[Tensor]) -> Tensor:
        pass

    @torch.jit._overload_method  # noqa: F811
    def forward(self, parts: Tensor) -> Tensor:
        pass

    def forward(self, parts):  # noqa: F811
        parts = [parts] if isinstance(parts, Tensor) else parts
        if not torch.jit.is_scripting() and self.any_requires_grad(parts):
            return self.checkpointed(parts)
        return self.joined(*parts)

    @torch.jit.export
    def describe(self) -> str:
        return "scripted" if torch.jit.is_scripting() or torch.jit.is_tracing() else "eager"


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = Patches(4, 6)
        self.dense = Dense(6)
        self.head = nn.Linear(6, 3)

    @torch.jit.ignore
    def no_weight_decay(self):
        return {"patches.conv.bias"}

    def forward(self, x):
        x = self.patches(x)
        y = _stochastic_depth(self.dense([x, torch.tanh(x)]), 0.2, self.training)
        if torch.is_complex(y):
            y = y.real
        return self.head(scaled(y, 0.5).mean(1))


net = Net().train()
x, target = torch.randn(4, 3, 8, 8), torch.tensor([0, 1, 2, 1])
loss = F.cross_entropy(net(x), target)
loss.backward()
print(loss, net.dense.describe(), net.no_weight_decay())
for name, p in net.named_parameters():
    print(name, p.grad.norm())
try:
    net(torch.randn(1, 3, 7, 8))
except AssertionError as error:
    print("AssertionError:", error)
adjacency = torch.tensor([[0.0, 1.0, 0.5], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]])
features = torch.randn(3, 2, requires_grad=True)
torch.spmm(adjacency, features).relu().sum().backward()
print(features.grad, features.is_xpu, torch.onnx.is_in_onnx_export() if hasattr(torch, "onnx") else None)
for m in net.modules():
    if isinstance(m, (nn.modules.conv._ConvNd, nn.modules.batchnorm._BatchNorm)):
        print(type(m).__name__, m.stride)
