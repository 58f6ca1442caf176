"""Random numbers: functions that draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.autograd.grad_mode import trace_cut
from autograd_core.dtype import dtype, get_default_dtype, int64
from autograd_core.op import public
from autograd_core.ops.creation.creation import like, size_of
from autograd_core.random import generator
from autograd_core.tensor import Tensor


@public(out="create")
def rand(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Return uniform random numbers from 0 to 1."""
    kind = (dtype or get_default_dtype()).dtype
    array = np.asarray(generator().random(size_of(size)))
    return Tensor.from_array(array.astype(kind), requires_grad)


@public(out="create")
def randn(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Return normal random numbers of mean 0 and variance 1."""
    kind = (dtype or get_default_dtype()).dtype
    array = np.asarray(generator().standard_normal(size_of(size)))
    return Tensor.from_array(array.astype(kind), requires_grad)


@public()
def rand_like(self: Tensor, *, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Return uniform random numbers from 0 to 1, in the shape and dtype of ``self``."""
    return like(self, rand(self._shape, dtype=dtype or self.dtype, requires_grad=requires_grad))


@public()
def randn_like(self: Tensor, *, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Return normal random numbers, in the shape and dtype of ``self``."""
    return like(self, randn(self._shape, dtype=dtype or self.dtype, requires_grad=requires_grad))


@public(out="create")
def randint(
    *arguments: Any,
    low: int | None = None,
    high: int | None = None,
    size: Any = None,
    dtype: dtype | None = None,
) -> Tensor:
    """Return random integers below ``high``: ``randint([low,] high, size)``."""
    *bounds, size = arguments if size is None else (*arguments, size)
    bounds = [bound for bound in (low, *bounds, high) if bound is not None]
    low, high = bounds if len(bounds) == 2 else (0, *bounds)
    if low >= high:
        raise RuntimeError(
            f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}"
        )
    kind = (dtype or int64).dtype
    return Tensor.from_array(np.asarray(generator().integers(low, high, tuple(size))).astype(kind))


@public()
def randint_like(self: Tensor, *bounds: int, dtype: dtype | None = None) -> Tensor:
    """Return random integers in the shape and dtype of ``self``: ``randint_like(self, [low,]
    high)``."""
    return like(self, randint(*bounds, self._shape, dtype=dtype or self.dtype))


@public(out="create")
def randperm(n: int) -> Tensor:
    """Return the numbers 0 to n - 1 in random order."""
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    return Tensor.from_array(generator().permutation(n))


@public(out="create")
def normal(
    mean: Tensor | float = 0.0,
    std: Tensor | float = 1.0,
    size: Sequence[int] | None = None,
    *,
    dtype: dtype | None = None,
) -> Tensor:
    """Return normal random numbers; means and deviations may be tensors, which gives their
    shape."""
    if not isinstance(std, Tensor) and std < 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {std:g}")
    parts: list[Any] = [p.array if isinstance(p, Tensor) else p for p in (mean, std)]
    given = next((p for p in (mean, std) if isinstance(p, Tensor)), None)
    kind = dtype or (get_default_dtype() if given is None else given.dtype)
    shape = None if size is None else tuple(size)
    array = np.asarray(generator().normal(parts[0], parts[1], shape))
    result = Tensor.from_array(array.astype(kind.dtype))
    for part in (mean, std):
        if isinstance(part, Tensor):
            trace_cut("normal()", part, result)
    return result


@public("function method", out="cast")
def bernoulli(self: Tensor, p: float | None = None) -> Tensor:
    """Return 1 with probability ``self``, or ``p``, and otherwise 0."""
    chances = self.array if p is None else np.full(self._shape, p)
    if chances.size and not (chances.min() >= 0 and chances.max() <= 1):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.")
    drawn = np.asarray(generator().random(self._shape) < chances)
    return Tensor.from_array(drawn.astype(self.dtype.dtype))


@public("function method", out="expect")
def multinomial(self: Tensor, num_samples: int, replacement: bool = False) -> Tensor:
    """Return indices (..., num_samples), drawn with the weights in each row of ``self``."""
    rows = _checked_weights(self, num_samples, replacement).reshape(-1, self._shape[-1])
    drawn = np.empty((len(rows), num_samples), np.int64)
    for row, places in zip(rows, drawn, strict=True):
        chances = row / row.sum()
        if replacement:
            places[:] = generator().choice(len(row), num_samples, p=chances)
            continue
        likely = min(num_samples, int(np.count_nonzero(row)))  # then those with the weight 0
        places[:likely] = generator().choice(len(row), likely, replace=False, p=chances)
        places[likely:] = np.flatnonzero(row == 0)[: num_samples - likely]
    return Tensor.from_array(drawn.reshape(*self._shape[:-1], num_samples))


def _checked_weights(weights: Tensor, count: int, replacement: bool) -> Any:
    """Return the weights that ``count`` samples are drawn with, in float64.

    Raises:
        RuntimeError: they are none, or too few; in PyTorch's words.
    """
    if weights.ndim not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not weights.dtype.is_floating_point:
        raise RuntimeError(
            "multinomial only supports floating-point dtypes for input, got: "
            f"{weights.dtype.scalar_name}"
        )
    if count <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and count > weights._shape[-1]:
        raise RuntimeError(
            "cannot sample n_sample > prob_dist.size(-1) samples without replacement"
        )
    array = weights.array.astype(np.float64)
    if not (np.isfinite(array) & (array >= 0)).all():
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    if not array.sum(-1).all():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    return array
