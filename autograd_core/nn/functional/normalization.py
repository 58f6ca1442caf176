"""Normalization, and dropout."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core import functions
from autograd_core.autograd.grad_mode import undo_log
from autograd_core.autograd.memory import laid_out_like
from autograd_core.dtype import float16, float32
from autograd_core.nn.functional.reduction import check_constant
from autograd_core.ops.checks import check_implemented
from autograd_core.ops.networks import batch_norm as norms
from autograd_core.ops.networks import normalization
from autograd_core.ops.networks.normalization import normalized_in, refuse_normalized
from autograd_core.ops.pointwise import elementwise
from autograd_core.ops.pointwise.exponential import rsqrt
from autograd_core.ops.reductions import reduce
from autograd_core.ops.shaping import shape
from autograd_core.ops.shaping.convert import to_dtype
from autograd_core.random import generator
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize the last dimensions to mean 0 and variance 1, then scale and shift them."""
    return normalization.layer_norm(input, weight, bias, tuple(normalized_shape), eps)


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    """Divide ``input`` by its root mean square over the last dimensions, then scale it."""
    last = tuple(normalized_shape)
    if input._shape[-len(last) :] != last or (weight is not None and weight._shape != last):
        refuse_normalized(input._shape, last, weight=weight)
    dims = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    check_implemented("rms_norm", input.array)
    if weight is not None and weight.dtype is not input.dtype:
        warnings.warn(
            "Mismatch dtype between input and weight: input dtype = "
            f"{input.dtype.c_name}, weight dtype = {weight.dtype.c_name}, Cannot dispatch to fused "
            "implementation.",
            stacklevel=2,
        )
    x = to_dtype(input, float32) if input.dtype is float16 else input
    small = float(np.finfo(x.dtype.dtype).eps) if eps is None else eps
    mean = reduce.mean_dim(functions.pow(x, 2), dims, True)
    result = elementwise.mul(x, rsqrt(elementwise.add(mean, small)))
    if weight is not None:
        result = elementwise.mul(result, weight)
    return to_dtype(result, input.dtype)


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel of ``input`` (N, C, ...) to mean 0 and variance 1, then scale and
    shift it.

    Training uses the statistics of the input, and updates the running statistics with ``momentum``.
    Otherwise, the running statistics are used.
    """
    if training and input._shape[0] * math.prod(input._shape[2:]) == 1:
        raise _too_few(input.shape)
    if not input.numel():
        return _of_nothing(input, weight, bias)
    if not training and (running_mean is None or running_var is None):
        missing = "running_mean" if running_mean is None else "running_var"
        raise RuntimeError(f"{missing} must be defined in evaluation mode")
    channels = input._shape[1] if input.ndim > 1 else 0
    given = {"running_mean": running_mean, "running_var": running_var, "weight": weight,
             "bias": bias}  # fmt: skip
    for name, t in given.items():
        if t is not None and t.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {t.numel()}")
    wrapped(1, input.ndim)
    whole = not input.dtype.is_floating_point
    if whole or running_mean is not None or running_var is not None:  # the op looks at the others
        _check_statistics(input, weight, bias, running_mean, running_var)
    if not training:
        return norms.batch_norm(input, weight, bias, running_mean, running_var, False, eps)
    _check_both(running_mean, running_var)
    result = norms.batch_norm(input, weight, bias, None, None, True, eps)
    if running_mean is not None and running_var is not None:
        axes = (0, *range(2, input.ndim))
        mean, variance = _statistics(input, axes)
        _move(running_mean, mean, momentum)
        _move(running_var, variance, momentum)
    return result


def _statistics(input: Tensor, axes: tuple[int, ...]) -> tuple[Any, Any]:
    """Return the mean and the unbiased variance along ``axes``."""
    with np.errstate(all="ignore"):  # of infinities
        return input.array.mean(axes), input.array.var(axes, ddof=1)


def _too_few(size: object) -> ValueError:
    return ValueError(
        f"Expected more than 1 value per channel when training, got input size {size}"
    )


def _of_nothing(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    """Return an empty tensor, of which the parameters get zeros."""
    result = shape.clone(x)
    if weight is not None:
        result = elementwise.mul(result, weight[0])
    return result if bias is None else elementwise.add(result, bias[0])


def _check_statistics(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor | None, var: Tensor | None
) -> None:
    check_constant("native_batch_norm", running_mean=mean, running_var=var)
    check_implemented("batch_norm", x.array)
    every = (None if t is None else t.array for t in (weight, bias, mean, var))
    normalized_in("batch_norm", x.array, *every)


def _check_both(running_mean: Tensor | None, running_var: Tensor | None) -> None:
    if (running_mean is None) is not (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")


def _move(
    running: Tensor, new: np.ndarray[tuple[int, ...], np.dtype[np.float64]], by: float
) -> None:
    if (log := undo_log()) is not None:
        log.keep_values(running)
    running.array[...] = (1 - by) * running.array + by * new


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each group of channels of ``input`` (N, C, ...) to mean 0 and variance 1, then
    scale and shift each channel."""
    if input.ndim < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.ndim}"
        )
    size = [input._shape[0] * input._shape[1] // num_groups, num_groups, *input._shape[2:]]
    if size[0] * math.prod(size[2:]) == 1:
        raise _too_few(size)
    return norms.group_norm(input, weight, bias, num_groups, eps)


def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Set each element to zero with probability ``p``, and scale up the others."""
    return _dropout(input, p, training, input._shape)


def _dropout(input: Tensor, p: float, training: bool, size: tuple[int, ...]) -> Tensor:
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0:
        return input
    kept = generator().random(size) >= p
    noise = kept / np.float64(1 - p) if p < 1 else np.zeros(size)
    noise = noise.astype(input.dtype.dtype)
    if not input.array.flags.c_contiguous:
        noise = laid_out_like(input.array, noise)
    result = elementwise.mul(input, Tensor.from_array(noise))
    if result.record is not None:
        result.record[0].called = "dropout"  # in pictures, which would say mul
    return result


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Apply :func:`dropout` to whole channels of (N, C, ...) or (C, L)."""
    return _channels(input, p, training, batched=input.ndim != 2)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Apply :func:`dropout` to whole channels of (N, C, H, W)."""
    return _channels(input, p, training, batched=True)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Apply :func:`dropout` to whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    return _channels(input, p, training, batched=input.ndim != 4)


def _channels(input: Tensor, p: float, training: bool, batched: bool) -> Tensor:
    whole = 2 if batched else 1
    size = (*input._shape[:whole], *(1,) * (input.ndim - whole))
    return _dropout(input, p, training, size)
