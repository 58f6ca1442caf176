"""The functions behind the modules; compositions of ops, taken apart as PyTorch does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.functions import generator, reshape
from autograd_core.ops import elementwise, linalg, loss, shape
from autograd_core.ops.elementwise import relu as relu
from autograd_core.ops.elementwise import sigmoid as sigmoid
from autograd_core.ops.elementwise import tanh as tanh
from autograd_core.tensor import Tensor

Pair = int | Sequence[int]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias`` for an input (..., in) and a weight (out, in)."""
    transposed = shape.t(weight)
    if bias is None:
        return linalg.matmul(input, transposed)
    if len(input._shape) == 2:
        return linalg.addmm(bias, input, transposed)
    tall = reshape(input, (-1, input._shape[-1]))
    result = linalg.addmm(bias, tall, transposed)
    return shape.view(result, (*input._shape[:-1], weight._shape[0]))


def log_softmax(input: Tensor, dim: int) -> Tensor:
    """The logarithm of :func:`softmax`, without its underflow."""
    return loss.log_softmax(input, dim)


def softmax(input: Tensor, dim: int) -> Tensor:
    """Positive numbers that add up to 1 along ``dim``, in the ratios of ``exp(input)``."""
    return loss.softmax(input, dim)


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of the classes ``target``, given log probabilities (N, C)."""
    return loss.nll_loss(input, target, weight, _known(reduction), ignore_index)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    """The negative log likelihood of the classes ``target``, given any scores (N, C)."""
    scores = loss.log_softmax(input, 1 if input.ndim > 1 else 0)
    return nll_loss(scores, target, weight, ignore_index, reduction)


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """The mean of the squared differences."""
    size = np.broadcast_shapes(input._shape, target._shape)
    return loss.mse_loss(_expanded(input, size), _expanded(target, size), _known(reduction))


def _expanded(x: Tensor, size: tuple[int, ...]) -> Tensor:
    return x if x._shape == size else shape.expand(x, size)


def _known(reduction: str) -> str:
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def dropout(input: Tensor, p: float = 0.5, training: bool = True) -> Tensor:
    """Each element set to zero with probability ``p``, the others scaled up to make up for it."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    kept = generator().random(input._shape) >= p
    noise = kept / np.float64(1 - p) if p < 1 else np.zeros(input._shape)
    return elementwise.mul(input, Tensor.from_array(noise.astype(input.dtype.dtype)))


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else tuple(value)
