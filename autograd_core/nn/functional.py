"""The functions behind the modules; compositions of ops, taken apart as PyTorch does it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.functions import generator, reshape
from autograd_core.ops import (
    convolution,
    elementwise,
    index,
    linalg,
    loss,
    normalization,
    pooling,
    shape,
)
from autograd_core.ops.elementwise import relu as relu
from autograd_core.ops.elementwise import sigmoid as sigmoid
from autograd_core.ops.elementwise import tanh as tanh
from autograd_core.tensor import Tensor

Pair = int | Sequence[int]


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """``input @ weight.T + bias`` for an input (..., in) and a weight (out, in)."""
    if bias is None:
        return linalg.matmul(input, shape.t(weight))
    if len(input._shape) == 2:
        return linalg.addmm(bias, input, shape.t(weight))
    tall = reshape(input, (-1, input._shape[-1]))
    result = linalg.addmm(bias, tall, shape.t(weight))
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


def conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
) -> Tensor:
    """Images (N, C, H, W), or one (C, H, W), under the kernels (O, C / groups, h, w)."""
    if input.ndim not in (3, 4):
        raise RuntimeError(
            "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: "
            f"{list(input.shape)}"
        )
    options = pair(stride), pair(padding), pair(dilation), groups
    if input.ndim == 3:
        one = convolution.conv2d(shape.unsqueeze(input, 0), weight, bias, *options)
        return shape.squeeze_dim(one, 0)
    return convolution.conv2d(input, weight, bias, *options)


def max_pool2d(
    input: Tensor,
    kernel_size: Pair,
    stride: Pair | None = None,
    padding: Pair = 0,
    dilation: Pair = 1,
) -> Tensor:
    """The largest element in each window of images (N, C, H, W) or (C, H, W).

    Windows do not overlap unless ``stride`` says so.
    """
    kernel, outside = pair(kernel_size), pair(padding)
    if any(2 * p > k for p, k in zip(outside, kernel, strict=True)):
        raise RuntimeError(
            f"pad should be at most half of effective kernel size, but got pad={outside[0]}, "
            f"kernel_size={kernel[0]} and dilation={pair(dilation)[0]}"
        )
    step = kernel if stride is None else pair(stride)
    return pooling.max_pool2d(input, kernel, step, outside, pair(dilation))


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """``input`` with mean 0 and variance 1 over its last dimensions, then scaled and shifted."""
    return normalization.layer_norm(input, weight, bias, tuple(normalized_shape), eps)


def embedding(input: Tensor, weight: Tensor) -> Tensor:
    """The rows of ``weight`` that the integers ``input`` point to."""
    return index.embedding(weight, input)


def pair(value: Any) -> tuple[int, int]:
    """A number for both dimensions, or one for each."""
    return (value, value) if isinstance(value, int) else tuple(value)
