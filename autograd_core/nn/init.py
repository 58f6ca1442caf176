"""Parameter initialization. Each function fills a tensor in place and returns it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autograd_core.fallback import answer_missing_names
from autograd_core.random import drawing_from, generator
from autograd_core.tensor import Tensor


def _drawing(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let the random numbers of ``function`` come from ``generator=``."""

    @wraps(function)
    def filled(*args: Any, generator: Any = None, **keywords: Any) -> Tensor:
        with drawing_from(generator):
            return function(*args, **keywords)

    return filled


def _filled(tensor: Tensor, values: Any) -> Tensor:
    tensor.bump()
    tensor.array[...] = values
    return tensor


@_drawing
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0) -> Tensor:
    """Fill with uniform random numbers between ``a`` and ``b``."""
    return _filled(tensor, generator().uniform(a, b, tensor._shape))


@_drawing
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0) -> Tensor:
    """Fill with normal random numbers."""
    return _filled(tensor, generator().normal(mean, std, tensor._shape))


@_drawing
def trunc_normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0
) -> Tensor:
    """Fill with normal random numbers truncated to the range from ``a`` to ``b``."""
    values = generator().normal(mean, std, tensor._shape)
    outside = (values < a) | (values > b)
    while outside.any():
        values[outside] = generator().normal(mean, std, int(outside.sum()))
        outside = (values < a) | (values > b)
    return _filled(tensor, values)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill with one number."""
    return _filled(tensor, val)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill with zeros."""
    return _filled(tensor, 0)


def ones_(tensor: Tensor) -> Tensor:
    """Fill with ones."""
    return _filled(tensor, 1)


@_drawing
def orthogonal_(tensor: Tensor, gain: float = 1) -> Tensor:
    """Fill with orthogonal rows or columns of length ``gain`` (Saxe et al. 2013)."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows = tensor._shape[0]
    flat = generator().standard_normal((rows, tensor.numel() // rows))
    wide = flat.shape[0] < flat.shape[1]
    q, r = np.linalg.qr(flat.T if wide else flat)
    q = q * np.sign(np.diag(r))
    return _filled(tensor, gain * (q.T if wide else q).reshape(tensor._shape))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the gain that compensates for a nonlinearity."""
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    gains = {"linear": 1.0, "sigmoid": 1.0, "tanh": 5 / 3, "relu": math.sqrt(2), "selu": 0.75}
    gains.update(dict.fromkeys((f"conv{n}d" for n in (1, 2, 3)), 1.0))
    gains.update(dict.fromkeys((f"conv_transpose{n}d" for n in (1, 2, 3)), 1.0))
    if nonlinearity not in gains:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return gains[nonlinearity]


def fan_in(tensor: Tensor) -> int:
    """Return how many inputs each output of a weight of shape (out, in, ...) sums over."""
    return _calculate_fan_in_and_fan_out(tensor)[0]


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    if tensor.ndim < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    outputs, inputs, *kernel = tensor._shape
    area = math.prod(kernel)
    return inputs * area, outputs * area


@_drawing
def xavier_uniform_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill with uniform numbers that preserve the variance in both directions (Glorot 2010)."""
    fans = float(sum(_calculate_fan_in_and_fan_out(tensor)))
    bound = gain * math.sqrt(6 / fans)
    return uniform_(tensor, -bound, bound)


@_drawing
def xavier_normal_(tensor: Tensor, gain: float = 1.0) -> Tensor:
    """Fill with normal numbers that preserve the variance in both directions (Glorot 2010)."""
    fans = float(sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0, gain * math.sqrt(2 / fans))


@_drawing
def kaiming_uniform_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Fill with uniform random numbers that preserve the variance through a nonlinearity (He et al.
    2015). With ``a = sqrt(5)``, the bound is 1/sqrt(fan_in), as in linear layers."""
    if _is_empty(tensor):
        return tensor
    bound = math.sqrt(3) * _kaiming_std(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound)


@_drawing
def kaiming_normal_(
    tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu"
) -> Tensor:
    """Fill with normal numbers that keep the variance through a nonlinearity (He et al. 2015)."""
    if _is_empty(tensor):
        return tensor
    return normal_(tensor, 0, _kaiming_std(tensor, a, mode, nonlinearity))


def _is_empty(tensor: Tensor) -> bool:
    """Return whether there is nothing to fill, which is worth a warning."""
    if 0 in tensor._shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=5)
    return 0 in tensor._shape


def _kaiming_std(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    modes = ("fan_in", "fan_out")
    if mode not in modes:
        raise ValueError(f"Mode {mode} not supported, please use one of {list(modes)}")
    fan = _calculate_fan_in_and_fan_out(tensor)[modes.index(mode)]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


answer_missing_names(__name__)
