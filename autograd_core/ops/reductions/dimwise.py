"""Functions along one dimension: order, quantiles, running extrema, differences and integrals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core import return_types
from autograd_core.dtype import bool_, float16, get_default_dtype, uint8
from autograd_core.op import public
from autograd_core.ops.indices import scatter
from autograd_core.ops.indices.index import select, slice_
from autograd_core.ops.indices.masking import masked_fill
from autograd_core.ops.pointwise.elementwise import mul_number
from autograd_core.ops.pointwise.logic import logical_xor
from autograd_core.ops.pointwise.select import lerp_number, lerp_tensor
from autograd_core.ops.reductions import sorting
from autograd_core.ops.reductions.reduce import sum_dim
from autograd_core.ops.reductions.reduce_functions import cumsum
from autograd_core.ops.shaping.joining import cat
from autograd_core.ops.shaping.shape import expand, reshape, squeeze_result, transpose, unsqueeze
from autograd_core.ops.shaping.shape_functions import narrow, squeeze
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import wrapped, wrapped_all


@public("function method", out="expect")
def sort(
    self: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = None
) -> return_types.sort:
    """Return the elements sorted along ``dim``, and their original indices."""
    call = sorting.sort if stable is None else sorting.sort_stable
    return return_types.sort(*call(self, dim, descending))


@public("function method", out="expect")
def msort(self: Tensor) -> Tensor:
    """Return the elements sorted along the first dimension."""
    return sorting.sort(self, 0)[0]


@public(out="expect")
def searchsorted(
    sorted_sequence: Tensor, self: Tensor | float, *, right: bool = False, side: str | None = None
) -> Tensor:
    """Return the indices at which ``self`` would be inserted into a sorted sequence along the last
    dimension."""
    if not isinstance(self, Tensor):
        self = Tensor.from_array(np.asarray(self))
    return sorting.searchsorted(sorted_sequence, self, right or side == "right")


@public(out="expect")
def bucketize(self: Tensor | float, boundaries: Tensor, *, right: bool = False) -> Tensor:
    """Return the index of the interval between sorted ``boundaries`` in which each element lies."""
    if boundaries.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.ndim})")
    return searchsorted(boundaries, self, right=right)


# Quantiles


@public("function method", out="expect")
def quantile(
    self: Tensor,
    q: Tensor | float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Return the quantiles ``q`` along ``dim``, or of all elements; NaN if an element is NaN."""
    return _quantile(self, q, dim, keepdim, interpolation, False)


@public("function method", out="expect")
def nanquantile(
    self: Tensor,
    q: Tensor | float,
    dim: int | None = None,
    keepdim: bool = False,
    *,
    interpolation: str = "linear",
) -> Tensor:
    """Return the :func:`quantile` of the elements that are not NaN."""
    return _quantile(self, q, dim, keepdim, interpolation, True)


def _quantile(
    x: Tensor, q: Tensor | float, dim: int | None, keepdim: bool, interpolation: str, skip: bool
) -> Tensor:
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if not x.dtype.is_floating_point or x.dtype is float16:
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if isinstance(q, Tensor) and q.dtype is not x.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    shares = np.asarray(q.array if isinstance(q, Tensor) else q, x.dtype.dtype)
    if shares.size and not (shares.min() >= 0 and shares.max() <= 1):
        wrong = "q values must be in the range [0, 1]"
        if not isinstance(q, Tensor):
            wrong = f"q must be in the range [0, 1] but got {q:g}"
        raise RuntimeError(f"quantile() {wrong}")
    if dim is not None:
        dim = wrapped(dim, x.ndim)
    if not x.array.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    rows = reshape(x, (-1,)) if dim is None or not x.ndim else _last(x, dim)
    ordered = sorting.sort(rows)[0]
    given = q if isinstance(q, Tensor) else Tensor.from_array(shares)
    exact = _ranks(ordered, reshape(given, (-1,)), skip)
    ranks = exact.array
    low, high = np.floor(ranks), np.ceil(ranks)
    if interpolation in ("lower", "higher", "nearest"):
        rank = {"lower": low, "higher": high, "nearest": np.rint(ranks)}[interpolation]
        result = _at(ordered, rank)
    elif interpolation == "midpoint":
        result = lerp_number(_at(ordered, low), _at(ordered, high), weight=0.5)
    else:
        weight = exact - Tensor.from_array(low)
        result = lerp_tensor(_at(ordered, low), _at(ordered, high), weight)
    if shares.ndim:
        result = transpose(unsqueeze(result, 0), 0, -1)
    result = squeeze_result(result, -1)
    return reshape(result, (*shares.shape, *_kept(x, dim))) if keepdim else result


def _last(x: Tensor, dim: int) -> Tensor:
    return x if dim == x.ndim - 1 else squeeze(transpose(unsqueeze(x, -1), dim, -1), dim)


def _kept(x: Tensor, dim: int | None) -> tuple[int, ...]:
    if dim is None:
        return (1,) * x.ndim
    return (*x._shape[:dim], 1, *x._shape[dim + 1 :]) if x.ndim else ()


def _ranks(ordered: Tensor, shares: Tensor, skip: bool) -> Tensor:
    """Return at which places, whole or not, of the ordered rows the quantiles are."""
    strange = np.isnan(ordered.array)
    number = np.count_nonzero(~strange, axis=-1, keepdims=True)
    last = ordered._shape[-1] - 1
    if skip:
        ranks = shares * Tensor.from_array((number - 1).astype(ordered.dtype.dtype))
        return masked_fill(ranks, Tensor.from_array(ranks.array < 0), value=0)
    beyond = number <= last  # a NaN, and so their quantiles are that
    ranks = expand(mul_number(shares, other=last), np.broadcast_shapes(shares._shape, beyond.shape))
    return masked_fill(ranks, Tensor.from_array(beyond), value=last)


def _at(ordered: Tensor, ranks: Any) -> Tensor:
    return scatter.gather(ordered, Tensor.from_array(ranks.astype(np.int64)), -1)


# Differences and integrals


@public("function method", out="cast")
def diff(
    self: Tensor,
    n: int = 1,
    dim: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Return the differences of neighbours along ``dim``, taken ``n`` times."""
    if not self.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    dim = wrapped(dim, self.ndim)
    parts = [part for part in (prepend, self, append) if part is not None]
    if len(parts) > 1:
        self = cat(parts, dim=dim)
    for _ in range(min(n, self._shape[dim])):
        count = self._shape[dim] - 1
        after, before = narrow(self, dim, 1, count), narrow(self, dim, 0, count)
        self = logical_xor(after, before) if self.dtype.category == 0 else after - before
    return self


def _sides(y: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    return slice_(y, dim, 1, None, 1), slice_(y, dim, 0, -1, 1)


def _steps(y: Tensor, x: Tensor, dim: int) -> Tensor:
    """Return the distances of the points ``x``, shaped to be multiplied with those of ``y``."""
    if x.ndim == 1:
        if len(x) != y._shape[dim]:
            raise RuntimeError("trapezoid: There must be one `x` value for each sample point")
        shape = [1] * y.ndim
        shape[dim] = -1
        x = reshape(x, tuple(shape))
        after, before = _sides(x, dim)
    else:
        after, before = _sides(x, dim if dim < 0 else dim - y.ndim)
    return after - before


def _check_numbers(name: str, y: Tensor, x: Tensor | None) -> None:
    if y.dtype is bool_ or (x is not None and x.dtype is bool_):
        which = "`y`" if x is None else "`x` or `y`"
        raise RuntimeError(f"{name}: received a bool input for {which}, but bool is not supported")


@public(aliases="trapz")
def trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """Return the integral of ``y`` along ``dim``, at points ``x`` or in steps of ``dx``."""
    _check_numbers("trapezoid", y, x)
    dim = wrapped(dim, y.ndim, of_scalars=False)
    if not y._shape[dim]:
        empty = np.zeros((*y._shape[:dim], *y._shape[dim + 1 :]), y.dtype.dtype)
        return Tensor.from_array(empty)
    if x is not None:
        after, before = _sides(y, dim)
        return sum_dim((after + before) * _steps(y, x, dim), dim) / 2.0
    ends = (select(y, dim, 0) + select(y, dim, -1)) * 0.5
    return (sum_dim(y, dim) - ends) * (1.0 if dx is None else dx)


@public()
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: float | None = None, dim: int = -1
) -> Tensor:
    """Return the integrals of ``y`` along ``dim`` up to each point but the first."""
    _check_numbers("cumulative_trapezoid", y, x)
    dim = wrapped(dim, y.ndim, of_scalars=False)
    after, before = _sides(y, dim)
    if x is not None:
        return cumsum((after + before) * _steps(y, x, dim), dim) / 2.0
    return cumsum((after + before) * (0.5 * (1.0 if dx is None else dx)), dim)


@public()
def gradient(
    self: Tensor, *, spacing: Any = 1, dim: int | Sequence[int] | None = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Return the slope of ``self`` along each dimension: central differences, one-sided at the
    ends.

    ``spacing`` is a number, one for each dimension, or a tensor of coordinates for each.
    """
    if self.dtype is uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    if edge_order not in (1, 2):
        raise RuntimeError(
            f"torch.gradient only supports edge_order=1 and edge_order=2, got {edge_order}"
        )
    listed = range(self.ndim) if dim is None else (dim,) if isinstance(dim, int) else dim
    dims = wrapped_all(listed, self.ndim)
    spacing = 1 if spacing is None else spacing
    given = list(spacing) if isinstance(spacing, (list, tuple)) else [spacing] * len(dims)
    return tuple(_slope(self, step, d, edge_order) for step, d in zip(given, dims, strict=True))


def _slope(x: Tensor, spacing: Any, dim: int, edge_order: int) -> Tensor:
    last = x._shape[wrapped(dim, x.ndim, of_scalars=False)] - 1
    if last < edge_order:
        raise RuntimeError(
            "torch.gradient expected each dimension size to be at least edge_order+1"
        )

    def at(place: int) -> Tensor:
        return narrow(x, dim, place, 1)

    if isinstance(spacing, Tensor):
        steps = np.diff(spacing.array)
    else:
        kind = x.dtype if x.dtype.is_floating_point else get_default_dtype()
        steps = np.full(last, spacing, kind.dtype)
    row = [1] * x.ndim
    row[dim] = -1
    before, after = (Tensor.from_array(part.reshape(row)) for part in (steps[:-1], steps[1:]))
    left, here, right = (narrow(x, dim, start, last - 1) for start in range(3))
    if isinstance(spacing, Tensor):
        inner = (
            left * -(after / (before * (before + after)))
            + here * ((after - before) / (before * after))
            + right * (before / (after * (before + after)))
        )
    else:
        inner = (right - left) / 2 / spacing
    first, final = float(steps[0]), float(steps[-1])
    if edge_order == 1:
        start, end = (at(1) - at(0)) / first, (at(last) - at(last - 1)) / final
    else:
        second, before_final = float(steps[1]), float(steps[-2])
        start = _edge(at(0), at(1), at(2), first, second)
        end = -_edge(at(last), at(last - 1), at(last - 2), final, before_final)
    return cat([start, inner, end], dim=dim)


def _edge(x: Tensor, y: Tensor, z: Tensor, h: float, k: float) -> Tensor:
    """Return the slope at ``x`` of the parabola through points at distances ``h`` and ``k``."""
    return x * -((2 * h + k) / (h * (h + k))) + y * ((h + k) / (h * k)) + z * -(h / (k * (h + k)))
