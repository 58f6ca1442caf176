"""Reductions and normalizations that leave masked elements out, under ``torch.masked``'s names.

An element counts where ``mask``, which broadcasts, holds; each function puts in the place of the
others what changes nothing: 0 in a sum, 1 in a product, -inf in a maximum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypedDict, Unpack

import numpy as np

from autograd_core.dtype import dtype, float32
from autograd_core.functions import to_dtype
from autograd_core.ops import (
    cumulative,
    elementwise,
    exponential,
    loss,
    norms,
    order_statistics,
    reduce,
    select,
    statistics,
)
from autograd_core.tensor import Tensor

__all__ = [
    "amax", "amin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median",
    "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip

Dims = int | Sequence[int] | None


def _dims(dim: Dims, x: Tensor) -> tuple[int, ...]:
    """Dimensions to reduce, all by default, from the first."""
    if dim is None or dim == ():
        return tuple(range(x.ndim))
    return tuple(d % x.ndim for d in ((dim,) if isinstance(dim, int) else dim))


def _spread(mask: Tensor, x: Tensor) -> Tensor:
    """The mask in the shape of ``x``."""
    if mask.ndim > x.ndim:
        raise IndexError(
            "_input_mask expected broadcastable mask (got mask dimensionality higher than of the "
            "input)"
        )
    return Tensor.from_array(np.broadcast_to(mask.array.astype(np.bool_), x._shape))


def _filled(x: Tensor, mask: Tensor | None, value: float) -> Tensor:
    """``value`` where the mask does not hold; of the dtype of ``x``, also for infinity."""
    if mask is None:
        return x
    if not x.dtype.is_floating_point and math.isinf(value):
        limits = np.iinfo(x.dtype.dtype)
        value = int(limits.max if value > 0 else limits.min)
    other = Tensor.from_array(np.array(value, x.dtype.dtype))
    return elementwise.where(_spread(mask, x), x, other)


def _cast(x: Tensor, kind: dtype | None) -> Tensor:
    return x if kind is None else to_dtype(x, kind)


class _Options(TypedDict, total=False):
    """What every reduction may be told: whether to keep its dimensions as ones, the dtype of the
    result, and which elements count."""

    keepdim: bool
    dtype: dtype | None
    mask: Tensor | None


def _reduced(
    call: Callable[[Tensor, tuple[int, ...], bool], Tensor],
    neutral: float,
    input: Tensor,
    dim: Dims,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """``call`` on ``input`` with ``neutral``, which changes nothing, where it does not count."""
    return _cast(call(_filled(input, mask, neutral), _dims(dim, input), keepdim), dtype)


def sum(input: Tensor, dim: Dims = None, **options: Unpack[_Options]) -> Tensor:
    """The sum of the elements that count."""
    return _reduced(reduce.sum_dim, 0, input, dim, **options)


def prod(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The product of the elements that count."""
    result = _cast(_filled(input, mask, 1), dtype)
    for each in reversed(_dims(dim, input)):
        result = cumulative.prod_dim(result, each, keepdim)
    return result


def amax(input: Tensor, dim: Dims = None, **options: Unpack[_Options]) -> Tensor:
    """The largest of the elements that count."""
    return _reduced(statistics.amax, -math.inf, input, dim, **options)


def amin(input: Tensor, dim: Dims = None, **options: Unpack[_Options]) -> Tensor:
    """The smallest of the elements that count."""
    return _reduced(statistics.amin, math.inf, input, dim, **options)


def logsumexp(input: Tensor, dim: Dims = None, **options: Unpack[_Options]) -> Tensor:
    """``log(sum(exp(input)))`` of the elements that count."""
    return _reduced(statistics.logsumexp, -math.inf, input, dim, **options)


def logaddexp(
    input: Tensor,
    other: Tensor,
    *,
    dtype: dtype | None = None,
    input_mask: Tensor | None = None,
    other_mask: Tensor | None = None,
) -> Tensor:
    """``log(exp(input) + exp(other))``, each without the elements that do not count."""
    left = _filled(input, input_mask, -math.inf)
    return _cast(exponential.logaddexp(left, _filled(other, other_mask, -math.inf)), dtype)


def mean(
    input: Tensor,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The mean of the elements that count; NaN if there are none."""
    kind = dtype or input.dtype
    if not kind.is_floating_point:
        raise ValueError(
            f"mean(): Could not infer output dtype. {'Optional' if dtype else 'Input'} dtype must "
            f"be either a floating point or complex dtype. Got: {kind}"
        )
    total = sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask)
    return total / _count(input, mask, _dims(dim, input), keepdim)


def _count(x: Tensor, mask: Tensor | None, dims: tuple[int, ...], keepdim: bool) -> Tensor:
    """How many elements count."""
    ones = Tensor.from_array(np.ones(x._shape, np.bool_)) if mask is None else _spread(mask, x)
    return reduce.sum_dim(ones, dims, keepdim)


def median(
    input: Tensor,
    dim: int = -1,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The lower median of the elements that count; NaN if there are none."""
    if input.dtype.is_floating_point:
        return order_statistics.nanmedian_dim(_filled(input, mask, math.nan), dim, keepdim)[0]
    filled = _filled(to_dtype(input, float32), mask, math.nan)
    found = order_statistics.nanmedian_dim(filled, dim, keepdim)[0]
    if np.isnan(found.array).any():
        raise ValueError(
            "masked median expects no fully masked out rows if dtype is not floating point"
        )
    return to_dtype(found, dtype or input.dtype)


def norm(
    input: Tensor,
    ord: float | None = 2.0,
    dim: Dims = None,
    *,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """:func:`autograd_core.linalg.vector_norm` of the elements that count."""
    ord = 2.0 if ord is None else ord
    filled = _filled(input, mask, math.inf if ord == -math.inf else 0)
    return norms.vector_norm(_cast(filled, dtype), ord, _dims(dim, input), keepdim)


def normalize(
    input: Tensor,
    ord: float,
    dim: int,
    *,
    eps: float = 1e-12,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    """The elements that count, divided by their norm, or by ``eps`` if that is larger."""
    filled = _filled(input, mask, 0)
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return filled / select.maximum(size, Tensor.from_array(np.array(eps, size.dtype.dtype)))


def _variance(
    input: Tensor,
    dim: Dims,
    correction: float,
    keepdim: bool = False,
    dtype: dtype | None = None,
    mask: Tensor | None = None,
) -> Tensor:
    input, dims = _cast(input, dtype), _dims(dim, input)
    x = input if input.dtype.is_floating_point else to_dtype(input, float32)
    middle = sum(x, dims, keepdim=True, mask=mask) / _count(x, mask, dims, True)
    away = x - middle
    total = sum(away * away, dims, keepdim=keepdim, mask=mask)
    number = _count(x, mask, dims, keepdim).array
    if correction:
        number = np.maximum(number.astype(x.dtype.dtype) - correction, 0).astype(x.dtype.dtype)
    return total / Tensor.from_array(np.asarray(number))


def _correction(unbiased: bool | None, correction: float | None) -> float:
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    if correction is not None:
        return correction
    return 0.0 if unbiased is False else 1.0


def var(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    **options: Unpack[_Options],
) -> Tensor:
    """The variance of the elements that count."""
    return _variance(input, dim, _correction(unbiased, correction), **options)


def std(
    input: Tensor,
    dim: Dims = None,
    unbiased: bool | None = None,
    *,
    correction: float | None = None,
    **options: Unpack[_Options],
) -> Tensor:
    """The standard deviation of the elements that count."""
    return elementwise.sqrt(_variance(input, dim, _correction(unbiased, correction), **options))


def cumsum(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Sums up to each element, of those that count."""
    return cumulative.cumsum(_cast(_filled(input, mask, 0), dtype), dim % input.ndim)


def cumprod(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """Products up to each element, of those that count."""
    return cumulative.cumprod(_cast(_filled(input, mask, 1), dtype), dim % input.ndim)


def softmax(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """:func:`autograd_core.softmax` of the elements that count, 0 for the others."""
    return loss.softmax(_cast(_filled(input, mask, -math.inf), dtype), dim % input.ndim)


def log_softmax(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """The logarithm of :func:`softmax`."""
    return loss.log_softmax(_cast(_filled(input, mask, -math.inf), dtype), dim % input.ndim)


def softmin(
    input: Tensor, dim: int, *, dtype: dtype | None = None, mask: Tensor | None = None
) -> Tensor:
    """:func:`softmax` of ``-input``."""
    filled = _cast(_filled(input, mask, math.inf), dtype)
    return loss.softmax(elementwise.neg(filled), dim % input.ndim)
