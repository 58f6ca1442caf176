"""Reductions to one element, or along dimensions, and counts."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core import return_types
from autograd_core.dtype import Number, bool_, dtype
from autograd_core.op import public
from autograd_core.op.public import NAMESPACES
from autograd_core.op.record import OutKind, OutOption
from autograd_core.op.refusals import not_implemented
from autograd_core.ops.algebra.linalg import mm
from autograd_core.ops.checks import check_one
from autograd_core.ops.indices.index_functions import check_slices
from autograd_core.ops.pointwise import select
from autograd_core.ops.pointwise.arithmetic import clamp
from autograd_core.ops.pointwise.elementwise import div, sqrt
from autograd_core.ops.pointwise.logic import isnan, logical_not
from autograd_core.ops.reductions import cumulative, norms, order_statistics, reduce
from autograd_core.ops.reductions import statistics as statistics_ops
from autograd_core.ops.shaping.convert import check_gradient
from autograd_core.ops.shaping.diagonals import diagonal
from autograd_core.ops.shaping.shape import reshape, squeeze_all, t, unsqueeze
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped

Dim = int | Sequence[int] | None


def _dims(dim: Dim) -> int | tuple[int, ...] | None:
    return dim if dim is None or isinstance(dim, int) else tuple(dim)


def _only_along_dims(kind: OutKind) -> OutOption:
    return lambda dim=None, **_: kind if dim is not None else ""


def _values_and_indices(dim: Any = None, **_: Any) -> OutKind:
    return "expect" if isinstance(dim, int) else "cast"


def _unless_unbiased(dim: Any = None, **_: Any) -> OutKind:
    """Take no ``out`` in the old form of the call, ``var(unbiased)``."""
    return "" if isinstance(dim, bool) else "cast"


def _check_into(x: Tensor, kind: dtype | None) -> None:
    if kind is not None:
        check_gradient(kind, x)


@public("function method", out=_only_along_dims("sum"))
def sum(
    self: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: dtype | None = None
) -> Tensor:
    """Return the sum of all elements, or over ``dim``."""
    if dtype is not None:
        _check_into(self, dtype)
    if dim is None and not keepdim:
        return reduce.sum_all(self, dtype)
    return reduce.sum_dim(self, _every(self, dim), keepdim, dtype)


def _every(x: Tensor, dim: Dim) -> Any:
    return reduce.every(x._shape, _dims(dim))


@public("function method", out="cast")
def mean(
    self: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: dtype | None = None
) -> Tensor:
    """Return the mean of all elements, or over ``dim``; floating point tensors only."""
    kind = self.dtype if dtype is None else dtype
    if not kind.is_floating_point:
        raise _no_mean("mean", "Input" if dtype is None else "Optional", kind)
    if dim is None and not keepdim:
        return reduce.mean_all(self, dtype)
    return reduce.mean_dim(self, _every(self, dim), keepdim, dtype)


def _no_mean(name: str, which: str, kind: dtype) -> RuntimeError:
    return RuntimeError(
        f"{name}(): could not infer output dtype. {which} dtype must be either a floating point or "
        f"complex dtype. Got: {kind.scalar_name}"
    )


@public("function method", out="cast")
def nansum(
    self: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: dtype | None = None
) -> Tensor:
    """Return the sum of the elements that are not NaN."""
    _check_into(self, dtype)
    return statistics_ops.nansum(self, _dims(dim), keepdim, dtype)


@public("function method", out="cast")
def nanmean(
    self: Tensor, dim: Dim = None, keepdim: bool = False, *, dtype: dtype | None = None
) -> Tensor:
    """Return the mean of the elements that are not NaN."""
    if not self.dtype.is_floating_point:
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            + self.dtype.scalar_name
        )
    if dtype is not None and not dtype.is_floating_point:
        raise _no_mean("nanmean", "Optional", dtype)
    number = sum(logical_not(isnan(self)), dim, keepdim)
    return div(nansum(self, dim, keepdim, dtype=dtype), number)


@public("function method", out=_only_along_dims("sum"))
def prod(
    self: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: dtype | None = None
) -> Tensor:
    """Return the product of all elements, or along ``dim``."""
    _check_into(self, dtype)
    if dim is None:
        return cumulative.prod_all(self, dtype)
    return cumulative.prod_dim(self, dim, keepdim, dtype)


@public("function method inplace_dtype", out="sum")
def cumsum(self: Tensor, dim: int, *, dtype: dtype | None = None) -> Tensor:
    """Return running sums along ``dim``."""
    _check_into(self, dtype)
    return cumulative.cumsum(self, dim, dtype)


@public("function method inplace_dtype", out="sum")
def cumprod(self: Tensor, dim: int, *, dtype: dtype | None = None) -> Tensor:
    """Return cumulative products along ``dim``."""
    _check_into(self, dtype)
    return cumulative.cumprod(self, dim, dtype)


@public("function method", out=_values_and_indices)
def max(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the largest element; with ``dim`` a pair of the largest along it and their indices;
    with another tensor the larger of two, elementwise."""
    if isinstance(dim, Tensor):
        return select.maximum(self, dim)
    if dim is None:
        return reduce.max_all(self)
    return return_types.max(*reduce.max_dim(self, dim, keepdim))


@public("function method", out=_values_and_indices)
def min(self: Tensor, dim: Any = None, keepdim: bool = False) -> Any:
    """Return the smallest element; with ``dim`` a pair of the smallest along it and their indices;
    with another tensor the smaller of two, elementwise."""
    if isinstance(dim, Tensor):
        return select.minimum(self, dim)
    if dim is None:
        return reduce.min_all(self)
    return return_types.min(*reduce.min_dim(self, dim, keepdim))


@public("function method", out="expect")
def amax(self: Tensor, dim: Dim = (), keepdim: bool = False) -> Tensor:
    """Return the largest elements over some or all dimensions; equal ones share the gradient."""
    return statistics_ops.amax(self, _dims(dim), keepdim)


@public("function method", out="expect")
def amin(self: Tensor, dim: Dim = (), keepdim: bool = False) -> Tensor:
    """Return the smallest elements over some or all dimensions; equal ones share the gradient."""
    return statistics_ops.amin(self, _dims(dim), keepdim)


@public("function method", out="expect")
def aminmax(self: Tensor, *, dim: int | None = None, keepdim: bool = False) -> return_types.aminmax:
    """Return the smallest and the largest elements along ``dim``, or of the whole tensor."""
    if dim is not None:
        check_one("aminmax", dim)
    return return_types.aminmax(*statistics_ops.aminmax(self, dim, keepdim))


def _spread(
    dim: Any, unbiased: bool | None, correction: Number | None
) -> tuple[int | tuple[int, ...] | None, Number]:
    """Return dimensions and correction, from the old form, ``(dim, unbiased)``, or the new one."""
    if isinstance(dim, bool):
        dim, unbiased = None, dim
    if correction is None:
        correction = 1 if unbiased is None else int(unbiased)
    return _dims(dim), correction


@public("function method", out=_unless_unbiased)
def var(
    self: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> Tensor:
    """Return the variance: squared distances from the mean over ``count - correction``."""
    return statistics_ops.var(self, *_spread(dim, unbiased, correction), keepdim)


@public("function method", out=_unless_unbiased)
def std(
    self: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> Tensor:
    """Return the standard deviation."""
    return statistics_ops.std(self, *_spread(dim, unbiased, correction), keepdim)


@public()
def var_mean(
    self: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the variance and the mean."""
    return statistics_ops.var_mean(self, *_spread(dim, unbiased, correction), keepdim)


@public()
def std_mean(
    self: Tensor,
    dim: Any = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    *,
    correction: Number | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the standard deviation and the mean."""
    return statistics_ops.std_mean(self, *_spread(dim, unbiased, correction), keepdim)


@public("function method", aliases="special.logsumexp", out="cast")
def logsumexp(self: Tensor, dim: Dim, keepdim: bool = False) -> Tensor:
    """Return ``log(sum(exp(self)))`` over ``dim``, without overflow."""
    return statistics_ops.logsumexp(self, _dims(dim), keepdim)


@public("function method", out="expect")
def norm(
    self: Tensor,
    p: float | str | None = "fro",
    dim: Dim = None,
    keepdim: bool = False,
    dtype: dtype | None = None,
) -> Tensor:
    """Return the ``p``-norm; "fro" is the 2-norm."""
    if p == "nuc":
        return NAMESPACES["linalg"]["matrix_norm"](
            self, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype
        )
    order = 2 if p is None or p == "fro" else float(p)
    check_norm_dtype("linalg.vector_norm", self, dtype)
    return norms.vector_norm(self, order, _dims(dim), keepdim, dtype)


def check_norm_dtype(name: str, x: Tensor, kind: dtype | None) -> None:
    """A norm is that of floating point numbers, and may be a longer one, not a shorter one."""
    if kind is None:
        return
    if not x.dtype.is_floating_point:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got "
            + x.dtype.scalar_name
        )
    if not kind.is_floating_point:
        raise RuntimeError(
            f"{name}: dtype should be floating point or complex, but got {kind.scalar_name}"
        )
    if kind.itemsize < x.dtype.itemsize:
        raise RuntimeError(
            f"{name}: the dtype of the input ({x.dtype.scalar_name}) should be convertible without "
            f"narrowing to the specified dtype ({kind.scalar_name})"
        )


# One element picked


@public("function method", out=_only_along_dims("expect"))
def median(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the median, the lower one of two; with ``dim``, also its index."""
    if dim is None:
        return order_statistics.median_all(self)
    return return_types.median(*order_statistics.median_dim(self, dim, keepdim))


@public("function method", out=_only_along_dims("expect"))
def nanmedian(self: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Return the median of the elements that are not NaN, the lower one of two; with ``dim``, also
    its index."""
    if dim is None:
        return order_statistics.nanmedian_all(self)
    return return_types.nanmedian(*order_statistics.nanmedian_dim(self, dim, keepdim))


# Covariance


@public("function method")
def cov(
    self: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Return the covariances of the variables in the rows of ``self``; columns are observations.
    ``fweights`` says how often each one occurred, ``aweights`` how much it counts."""
    if self.ndim > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{self.ndim} dimensions"
        )
    if self.dtype is bool_:
        raise RuntimeError("cov(): bool dtype is not supported for input")
    rows = reshape(self, (1, -1)) if self.ndim < 2 else self
    number = rows._shape[1]
    if fweights is not None or aweights is not None:
        return _weighted_cov(rows, fweights, aweights, correction)
    apart = rows - unsqueeze(div(reduce.sum_dim(rows, 1), number), 1)
    freedom = builtins.max(number - correction, 0)
    return squeeze_all(div(mm(apart, t(apart)), freedom if freedom else math.nan))


def _weighted_cov(
    rows: Tensor, fweights: Tensor | None, aweights: Tensor | None, correction: int
) -> Tensor:
    number = rows._shape[1]
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        if given.ndim > 1:
            raise RuntimeError(
                f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
                f"{given.ndim} dimensions"
            )
        if given.numel() != number:
            raise RuntimeError(
                f"cov(): expected {name} to have the same numel as there are observations in the "
                f"input but got {given.numel()} != {number}"
            )
        if (given.array < 0).any():
            raise RuntimeError(f"cov(): {name} cannot be negative")
    if fweights is not None and fweights.dtype.category != 1:
        raise RuntimeError(
            "cov(): expected fweights to have integral dtype but got fweights with "
            f"{fweights.dtype.scalar_name} dtype"
        )
    if aweights is not None and not aweights.dtype.is_floating_point:
        raise RuntimeError(
            "cov(): expected aweights to have floating point dtype but got aweights with "
            f"{aweights.dtype.scalar_name} dtype"
        )
    weights: Any = fweights if aweights is None else aweights
    if fweights is not None and aweights is not None:
        weights = aweights * fweights
    total = weights.sum()
    apart = rows - unsqueeze(reduce.sum_dim(rows * weights, 1) / total, 1)
    if aweights is None or correction == 0:
        freedom = total - correction
    else:
        freedom = total - correction * (weights * aweights).sum() / total
    freedom = freedom.clamp(min=0)
    return squeeze_all(mm(apart, t(apart * weights)) / freedom)


@public("function method")
def corrcoef(self: Tensor) -> Tensor:
    """Return the correlation coefficients of the variables in the rows of ``self``."""
    matrix = cov(self)
    if not matrix.ndim:
        return matrix / matrix
    deviation = sqrt(diagonal(matrix))
    scaled = div(div(matrix, reshape(deviation, (-1, 1))), reshape(deviation, (1, -1)))
    return clamp(scaled, -1, 1)


@public(out="expect")
def histc(self: Tensor, bins: int = 100, min: Number = 0, max: Number = 0) -> Tensor:
    """Return how many elements are in each of ``bins`` equal parts of the range from ``min`` to
    ``max``, or of the range of ``self`` if these are equal."""
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if not (math.isfinite(min) and math.isfinite(max)):
        raise RuntimeError(f"torch.histc: range of [{min:g}, {max:g}] is not finite")
    if min > max:
        raise RuntimeError("torch.histc: max must be larger than min")
    if not self.dtype.is_floating_point:
        raise not_implemented("histogram_cpu", self.dtype)
    low, high = (
        (min, max) if min != max or not self.array.size else (self.array.min(), self.array.max())
    )
    if not (math.isfinite(low) and math.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    counts, _ = np.histogram(self.array, bins, (float(low), float(high)))
    return Tensor.from_array(counts.astype(self.array.dtype))


@public(out="expect")
def isin(
    elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    """Return whether each of ``elements`` is among ``test_elements``."""
    values, among = (
        t.array if isinstance(t, Tensor) else np.asarray(t) for t in (elements, test_elements)
    )
    result = np.isin(values, among, assume_unique=assume_unique, invert=invert)
    return Tensor.from_array(np.asarray(result))


@public()
def unique_consecutive(
    self: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return the flattened ``self``, or the slices of ``dim``, without consecutive duplicates;
    optionally the index of each, and the counts."""
    if dim is not None:
        dim = wrapped(dim, self.ndim, of_scalars=False)
        check_slices(self, dim)
    slices = self.array.reshape(-1) if dim is None else np.moveaxis(self.array, dim, 0)
    count = len(slices)
    rows = slices.reshape(count, math.prod(slices.shape[1:]))
    first = np.ones(count, np.bool_)
    first[1:] = (rows[1:] != rows[:-1]).any(-1)
    kept = slices[first] if dim is None else np.moveaxis(slices[first], 0, dim)
    arrays = [kept.copy()]
    if return_inverse:
        where = np.cumsum(first) - 1
        arrays.append(where.reshape(self._shape) if dim is None else where)
    if return_counts:
        arrays.append(np.diff(np.append(np.flatnonzero(first), count)))
    tensors = tuple(Tensor.from_array(np.asarray(array)) for array in arrays)
    return tensors if len(tensors) > 1 else tensors[0]
