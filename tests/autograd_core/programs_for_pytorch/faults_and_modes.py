"""Where a faulty pass back is caught, and what each mode of recording does to a tensor."""

import warnings

import torch
from torch import autograd


class Leaky(autograd.Function):
    @staticmethod
    def forward(ctx, water):
        return water.clone()

    @staticmethod
    def backward(ctx, g):
        raise RuntimeError("the pipe back has a hole")


def pour(water):
    return Leaky.apply(water).sum()


def attempt(action):
    try:
        print("went well", action())
    except RuntimeError as error:
        print(error)


water = torch.rand(4, 3, requires_grad=True)
attempt(lambda: pour(water).backward())
level = torch.tensor([0.0, 4.0], requires_grad=True)
depth = torch.tensor([-2.0], requires_grad=True)
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    with autograd.detect_anomaly():
        attempt(lambda: pour(water).backward())
    with torch.autograd.set_detect_anomaly(True):
        attempt(lambda: (level.sqrt() * 0).sum().backward())
        attempt(lambda: torch.log(depth).sum().backward())
        print(depth.grad)
        attempt(lambda: (depth * float("nan")).backward())
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        level.grad = None
        (torch.sqrt(level) * 0).sum().backward()
        print(level.grad)
print(torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())

with torch.autograd.set_grad_enabled(False):
    print(torch.is_grad_enabled())
with torch.inference_mode(), torch.enable_grad():
    fresh = torch.ones(3, requires_grad=True)
    mixed = fresh * 4
    print(torch.is_grad_enabled(), torch.is_inference_mode_enabled())
    print(mixed.requires_grad, mixed.is_inference())


@torch.no_grad()
def halved(x):
    return x / 2


@torch.enable_grad()
def squared(x):
    return x * x


@torch.inference_mode()
def shifted(x):
    return x + 3


print(halved.__name__, halved(water).requires_grad)
with torch.no_grad():
    print(squared(water).requires_grad)
frozen = shifted(water)
print(frozen.requires_grad, frozen.is_inference())


def mark():
    frozen.requires_grad = True


attempt(lambda: frozen.requires_grad_().requires_grad)
attempt(lambda: (frozen * water).requires_grad)
attempt(lambda: frozen.add_(1).requires_grad)
attempt(lambda: frozen._version)
attempt(mark)
attempt(lambda: setattr(frozen, "requires_grad", True))
torch.set_grad_enabled(False)
print((water - 1).requires_grad)
torch.set_grad_enabled(True)
print((water - 1).requires_grad)
