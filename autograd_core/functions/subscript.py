"""``x[key]``, taken apart as PyTorch does."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.ops import index, shape
from autograd_core.tensor import Tensor

__all__: list[str] = []


def getitem(x: Tensor, key: Any) -> Tensor:
    """``x[key]``, taken apart as PyTorch does: numbers select, slices slice, None adds a
    dimension, and what is left over, lists and tensors, indexes."""
    part, picked = take_apart(x, key)
    if picked is not None:
        return index.index(part, picked)
    return index.alias(x) if part is x else part


def take_apart(x: Tensor, key: Any) -> tuple[Tensor, tuple[Any, ...] | None]:
    """The view that the numbers, slices and Nones of ``key`` select, and the index of what is left
    over within it, None for nothing."""
    keys = _expanded(x, key if isinstance(key, tuple) else (key,))
    dim, taken, rest, picked = 0, 0, x, []
    for part in keys:
        if _is_number(part):
            rest = _selected(rest, dim, int(part), dim + taken)
            taken += 1
        elif isinstance(part, slice):
            if part != slice(None):
                step = 1 if part.step is None else part.step
                rest = index.slice_(rest, dim, part.start, part.stop, step)
            dim += 1
        elif part is None:
            rest = shape.unsqueeze(rest, dim)
            dim += 1
        else:
            array = plain_index(part)
            picked.append((dim, array))
            dim += _covers(array)
    return rest, _positions(picked) if picked else None


def _selected(x: Tensor, dim: int, number: int, place: int) -> Tensor:
    """Element ``number`` of dimension ``dim``, which was number ``place`` to begin with."""
    size = x._shape[dim]
    if not -size <= number < size:
        raise IndexError(f"index {number} is out of bounds for dimension {place} with size {size}")
    return index.select(x, dim, number)


def _is_number(part: Any) -> bool:
    if isinstance(part, Tensor):
        return not part._shape and part.dtype.category == 1
    return isinstance(part, (int, np.integer)) and not isinstance(part, bool)


def _covers(part: Any) -> int:
    """How many dimensions this part of an index takes up."""
    return part.ndim if isinstance(part, np.ndarray) and part.dtype == np.bool_ else 1


def _expanded(x: Tensor, keys: tuple[Any, ...]) -> tuple[Any, ...]:
    """``keys`` with the ellipsis written out."""
    arrays = (Tensor, np.ndarray, list)
    used = sum(
        _covers(plain_index(part) if isinstance(part, arrays) else part)
        for part in keys
        if part is not None and part is not Ellipsis
    )
    if used > x.ndim:
        if not x.ndim:
            raise IndexError(
                "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
                "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
            )
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
    places = [i for i, part in enumerate(keys) if part is Ellipsis]
    if not places:
        return keys
    fill = (slice(None),) * (x.ndim - used)
    return keys[: places[0]] + fill + keys[places[0] + 1 :]


def _positions(picked: list[tuple[int, Any]]) -> tuple[Any, ...]:
    """Arrays for certain dimensions as one index, with whole slices between them."""
    indices: list[Any] = []
    covered = 0
    for dim, array in picked:
        indices += [slice(None)] * (dim - covered)
        indices.append(array)
        covered = dim + _covers(array)
    return tuple(indices)


def plain_index(key: Any) -> Any:
    """An index without tensors, as NumPy takes it."""
    if isinstance(key, Tensor):
        if key.dtype.is_floating_point:
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        return key.array
    if isinstance(key, float):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            "valid indices (got float)"
        )
    if isinstance(key, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(key, tuple):
        return tuple(plain_index(part) for part in key)
    return np.asarray(key) if isinstance(key, (list, np.ndarray)) else key
