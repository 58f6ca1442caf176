"""Tensors made from data, or from nothing."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.autograd.grad_mode import tracer
from autograd_core.autograd.memory import laid_out_like
from autograd_core.dtype import Number, dtype, from_numpy_dtype, get_default_dtype, int32, int64
from autograd_core.op import public
from autograd_core.op.generic import broadcast_shapes
from autograd_core.op.refusals import not_implemented
from autograd_core.ops.checks import fitting_number
from autograd_core.ops.shaping.convert import to_dtype
from autograd_core.own_files import warn
from autograd_core.tensor import Tensor
from autograd_core.tensor.data import holds_tensors, without_tensors


@public()
def tensor(data: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Return a new tensor with a copy of ``data``: a number, nested lists or an array.

    >>> import autograd_core as torch
    >>> torch.tensor([1.0, 2.0], requires_grad=True)
    tensor([1., 2.], requires_grad=True)

    Python floats become the default dtype, ints int64; an array keeps its own dtype.
    """
    given = data
    if isinstance(data, Tensor):
        warn(
            "To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than "
            "torch.tensor(sourceTensor)."
        )
        data = data.array
    elif holds_tensors(data):
        data, kind = without_tensors(data)
        dtype = dtype or kind
    try:
        array = _as_array(data, dtype)
        from_numpy_dtype(array.dtype)
    except (TypeError, ValueError) as error:
        raise _refused(data) or error from None
    if dtype is None and array.dtype == np.float64 and not _has_dtype(data):
        array = array.astype(get_default_dtype().dtype)
    return _traced("tensor()", given, Tensor.from_array(array, requires_grad))


def _as_array(data: Any, kind: dtype | None) -> Any:
    try:
        return np.array(data, dtype=None if kind is None else kind.dtype)
    except OverflowError:  # whole numbers may be negative of what an unsigned dtype holds
        assert kind is not None
        wide = np.array(data)
        largest = np.iinfo(kind.dtype).max
        if wide.dtype.kind not in "iu" or wide.max() > largest or wide.min() < -largest - 1:
            raise RuntimeError(
                f"value cannot be converted to type {kind.name} without overflow"
            ) from None
        return wide.astype(kind.dtype)


def _refused(data: Any) -> Exception | None:
    """Return what PyTorch says of data that is no array of numbers; None where it has no words."""
    sizes, first = [], data
    while isinstance(first, (list, tuple)):
        sizes.append(len(first))
        first = first[0] if first else None
    level: list[Any] = [data]
    uneven: Exception | None = None
    for dim, size in enumerate(sizes):
        for part in level:
            if not isinstance(part, (list, tuple)):
                uneven = uneven or TypeError("not a sequence")
            elif len(part) != size:
                uneven = uneven or ValueError(
                    f"expected sequence of length {size} at dim {dim} (got {len(part)})"
                )
        level = [item for part in level if isinstance(part, (list, tuple)) for item in part]
    for value in level:
        if isinstance(value, str):
            return TypeError("new(): invalid data type 'str'")
        if not hasattr(value, "dtype") and not isinstance(value, (Number, list, tuple)):
            return RuntimeError(f"Could not infer dtype of {type(value).__name__}")
    return uneven


def _traced(how: str, data: Any, tensor: Tensor) -> Tensor:
    """Return ``tensor``, after telling whoever traces that it was made from ``data``."""
    if (traces := tracer()) is not None:
        if isinstance(data, Tensor):
            traces.cut(how, data, tensor)
        elif _has_dtype(data):
            traces.from_numpy(how, tensor)
    return tensor


def _has_dtype(data: Any) -> bool:
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, (np.ndarray, np.generic))


@public()
def as_tensor(data: Any, dtype: dtype | None = None) -> Tensor:
    """Return ``data`` as a tensor, without a copy if possible."""
    if isinstance(data, Tensor):
        return data if dtype is None else to_dtype(data, dtype)
    if isinstance(data, np.ndarray) and (dtype is None or dtype.dtype == data.dtype):
        return _traced("as_tensor()", data, Tensor.from_array(data))
    return tensor(data, dtype)


@public()
def asarray(obj: Any, *, dtype: dtype | None = None, copy: bool | None = None) -> Tensor:
    """Return ``obj`` as a tensor; without ``copy``, it is copied only if necessary."""
    tensor = as_tensor(obj, dtype)
    if copy and (tensor is obj or isinstance(obj, np.ndarray)):
        return Tensor.from_array(tensor.array.copy(), tensor.requires_grad)
    return tensor


@public()
def detach(self: Tensor) -> Tensor:
    """Return the same data without the graph."""
    return self.detach()


@public()
def is_nonzero(self: Tensor) -> bool:
    """Return whether the only element of ``self`` is not 0."""
    return bool(self)


@public()
def typename(obj: Any) -> str:
    """Return the name of the type of ``obj``, with its module; of a tensor, by its dtype."""
    if isinstance(obj, Tensor):
        return f"torch.{obj.dtype.scalar_name}Tensor"
    kind = obj if isinstance(obj, type) else type(obj)
    return (
        kind.__qualname__
        if kind.__module__ == "builtins"
        else (f"{kind.__module__}.{kind.__qualname__}")
    )


@public()
def from_numpy(array: np.ndarray[Any, Any]) -> Tensor:
    """Return a tensor that shares the memory of ``array``."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(array).__name__})")
    return _traced("from_numpy()", array, Tensor.from_array(array))


@public()
def scalar_tensor(value: Number, *, dtype: dtype | None = None) -> Tensor:
    """Return a tensor without dimensions."""
    return tensor(value, dtype or get_default_dtype())


def size_of(size: tuple[Any, ...]) -> tuple[int, ...]:
    """Return a shape given number by number, or as one sequence."""
    shape = tuple(size[0]) if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    for n in shape:
        if n < 0:
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {n}: {list(shape)}"
            )
    return shape


@public(out="create")
def zeros(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Return a tensor of zeros."""
    kind, shape = (dtype or get_default_dtype()).dtype, size_of(size)
    return Tensor.from_array(np.zeros(shape, kind), requires_grad)


@public(out="create")
def ones(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Return a tensor of ones."""
    kind = (dtype or get_default_dtype()).dtype
    return Tensor.from_array(np.ones(size_of(size), kind), requires_grad)


@public(out="create")
def empty(*size: Any, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Return a tensor without defined values; here zeros, so that every run is the same."""
    return zeros(*size, dtype=dtype, requires_grad=requires_grad)


@public(out="create")
def full(
    size: Sequence[int],
    fill_value: Number | Tensor,
    dtype: dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a tensor filled with ``fill_value``."""
    if dtype is None or isinstance(fill_value, Tensor):
        value = as_tensor(fill_value, dtype).array
    else:
        value = fitting_number(fill_value, dtype.dtype)
    return Tensor.from_array(np.full(size_of((size,)), value), requires_grad)


@public()
def full_like(
    self: Tensor, fill_value: Number, *, dtype: dtype | None = None, requires_grad: bool = False
) -> Tensor:
    """Return a tensor filled with ``fill_value``, with the shape and dtype of ``self``."""
    tensor = full(self._shape, fill_value, dtype or self.dtype, requires_grad)
    return like(self, tensor)


@public(aliases="empty_like")
def zeros_like(self: Tensor, *, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Return zeros with the shape and dtype of ``self``."""
    return like(self, zeros(self._shape, dtype=dtype or self.dtype, requires_grad=requires_grad))


@public()
def ones_like(self: Tensor, *, dtype: dtype | None = None, requires_grad: bool = False) -> Tensor:
    """Return ones with the shape and dtype of ``self``."""
    return like(self, ones(self._shape, dtype=dtype or self.dtype, requires_grad=requires_grad))


def like(x: Tensor, made: Tensor) -> Tensor:
    """Return ``made``, new and of the shape of ``x``, laid out in memory as that is."""
    if x.array.flags.c_contiguous:
        return made
    return Tensor.from_array(laid_out_like(x.array, made.array), made.requires_grad)


@public(out="create")
def eye(
    n: int, m: int | None = None, *, dtype: dtype | None = None, requires_grad: bool = False
) -> Tensor:
    """Return a matrix with ones on its diagonal."""
    if n < 0:
        raise RuntimeError(f"n must be greater or equal to 0, got {n}")
    kind = (dtype or get_default_dtype()).dtype
    return Tensor.from_array(np.eye(n, m, dtype=kind), requires_grad)


@public(out="create")
def arange(
    *bounds: Number, dtype: dtype | None = None, requires_grad: bool = False, **named: Number
) -> Tensor:
    """Return numbers at equal steps: ``arange([start,] end[, step])``."""
    start, end, step = (*((0, *bounds) if len(bounds) == 1 else bounds), None, None, None)[:3]
    start, end = named.get("start", start or 0), named.get("end", end)
    step = named.get("step", 1 if step is None else step)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if end is not None and (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    array = np.arange(start, end, step)
    if dtype is None and array.dtype == np.float64:
        dtype = get_default_dtype()
    return Tensor.from_array(array if dtype is None else array.astype(dtype.dtype), requires_grad)


@public(out="create")
def linspace(
    start: float | Tensor,
    end: float | Tensor,
    steps: int,
    *,
    dtype: dtype | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return ``steps`` numbers from ``start`` to ``end``, both included."""
    if steps < 0:
        raise RuntimeError("number of steps must be non-negative")
    kind = (dtype or get_default_dtype()).dtype
    first, last = (v.item() if isinstance(v, Tensor) else v for v in (start, end))
    return Tensor.from_array(_evenly(first, last, steps, kind), requires_grad)


_PRECISIONS: dict[Any, tuple[Any, Any]] = {
    np.float16: (np.float16, np.float16),
    np.float32: (np.float32, np.float64),
}


def _evenly(first: float, last: float, steps: int, kind: Any) -> Any:
    """Return numbers at equal steps, counted from the nearer end; what falls between integers is
    cut off.

    Of product and sum only the sum is rounded, as PyTorch's fused operation does; not so in half
    precision, where it has none.
    """
    own, wide = _PRECISIONS.get(kind.type, (np.float64, np.longdouble))
    if kind.kind != "f":
        first, last = int(first), int(last)
    low, high = own(first), own(last)
    step = wide((high - low) / own(steps - 1)) if steps > 1 else wide(0)
    places = np.arange(steps).astype(wide)
    ends = wide(low) + step * places, wide(high) - step * (steps - 1 - places)
    return np.where(places < max(steps // 2, 1), *ends).astype(own).astype(kind)


@public(out="create")
def logspace(
    start: float, end: float, steps: int, base: float = 10.0, *, dtype: dtype | None = None
) -> Tensor:
    """Return ``steps`` powers of ``base``, exponents from ``start`` to ``end``."""
    kind = (dtype or get_default_dtype()).dtype
    return Tensor.from_array(np.logspace(start, end, steps, base=base, dtype=kind))


@public()
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: dtype | None = None) -> Tensor:
    """Return the indices of the lower triangle of a matrix: its rows in one row, its columns in
    another."""
    return _places("tril_indices", np.tril_indices(row, offset, col), dtype)


@public()
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: dtype | None = None) -> Tensor:
    """Return the indices of the upper triangle of a matrix: its rows in one row, its columns in
    another."""
    return _places("triu_indices", np.triu_indices(row, offset, col), dtype)


def _places(name: str, indices: Any, dtype: dtype | None) -> Tensor:
    kind = int64 if dtype is None else dtype
    if kind not in (int32, int64):
        raise not_implemented(name, kind)
    return Tensor.from_array(np.stack(indices).astype(kind.dtype))


# Looking at tensors


@public()
def is_tensor(value: Any) -> bool:
    """Return whether ``value`` is a tensor."""
    return isinstance(value, Tensor)


@public()
def is_floating_point(self: Tensor) -> bool:
    """Return whether ``self`` holds floating point numbers."""
    return self.dtype.is_floating_point


@public()
def numel(self: Tensor) -> int:
    """Return the number of elements."""
    return self.numel()


@public("function method")
def allclose(
    self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Return whether all elements agree within ``atol + rtol * |other|``."""
    if self.dtype is not other.dtype:
        raise RuntimeError(f"{self.dtype.scalar_name} did not match {other.dtype.scalar_name}")
    broadcast_shapes((self, other))
    return builtins.bool(np.allclose(self.array, other.array, rtol, atol, equal_nan))


@public("function method")
def equal(self: Tensor, other: Tensor) -> bool:
    """Return whether shapes and all elements are equal."""
    return builtins.bool(np.array_equal(self.array, other.array))


@public()
def hann_window(window_length: int, periodic: bool = True, *, dtype: dtype | None = None) -> Tensor:
    """Return the Hann window: a raised cosine from 0. ``periodic`` leaves out the last 0."""
    period = window_length if periodic else window_length - 1
    cosines = np.cos(2 * np.pi * np.arange(window_length) / max(period, 1))
    values = np.ones(1) if window_length == 1 else 0.5 - 0.5 * cosines
    return Tensor.from_array(values.astype((dtype or get_default_dtype()).dtype))
