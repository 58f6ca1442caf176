"""How parameters start out; each function fills a tensor in place and returns it."""

from __future__ import annotations

import math

from autograd_core.functions import generator
from autograd_core.tensor import Tensor


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Uniform random numbers between ``a`` and ``b``."""
    tensor.array[...] = generator().uniform(a, b, tensor.array.shape)
    tensor.bump()
    return tensor


def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Normal random numbers."""
    tensor.array[...] = generator().normal(mean, std, tensor.array.shape)
    tensor.bump()
    return tensor


def constant_(tensor: Tensor, val: float) -> Tensor:
    """One number everywhere."""
    tensor.array.fill(val)
    tensor.bump()
    return tensor


def zeros_(tensor: Tensor) -> Tensor:
    """Zeros."""
    return constant_(tensor, 0.0)


def ones_(tensor: Tensor) -> Tensor:
    """Ones."""
    return constant_(tensor, 1.0)


def fan_in(tensor: Tensor) -> int:
    """How many inputs each output of a weight of shape (out, in, ...) sums over."""
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    return tensor.numel() // tensor.size(0)


def kaiming_uniform_(tensor: Tensor, a: float = 0.0) -> Tensor:
    """Uniform random numbers that keep the variance through a leaky ReLU of slope ``a``
    (He et al. 2015); with ``a = sqrt(5)`` the bound is 1/sqrt(fan_in), as in linear layers."""
    bound = math.sqrt(6.0 / ((1 + a * a) * fan_in(tensor)))
    return uniform_(tensor, -bound, bound)
