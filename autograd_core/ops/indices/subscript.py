"""``x[key]`` and ``x[key] = value``, taken apart as PyTorch does.

Numbers select, slices slice, None adds a dimension; what is left over, tensors and lists, indexes
what those selected, or puts elements there.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from autograd_core.autograd.grad_mode import trace_taken_out
from autograd_core.autograd.held import Held, index_array
from autograd_core.dtype import bool_, float16, float64, int32, int64, uint8
from autograd_core.ops.checks import fitting_number
from autograd_core.ops.creation.creation import tensor
from autograd_core.ops.indices import index
from autograd_core.ops.shaping import shape
from autograd_core.own_files import warn
from autograd_core.tensor import Tensor

Picked = list[Any]  # tensors, and whole slices between them

_ALL: Final = slice(None)
_MASKS: Final = (bool_, uint8)
_NUMBERS: Final = frozenset({int, bool, float})
_PLAIN: Final = frozenset({int, slice, bool, type(None), type(Ellipsis)})
_NOT_A_TUPLE: Final = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in "
    "pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as "
    "tensor index, x[torch.tensor(seq)], which will result either in an error or a different result"
)


def getitem(x: Tensor, key: Any) -> Tensor:
    """Return ``x[key]``."""
    part, picked = take_apart(x, key)
    if picked:
        return index.index(part, plain_indices(picked))
    return index.alias(x) if part is x else part


def setitem(x: Tensor, key: Any, value: Any) -> None:
    """``x[key] = value``."""
    value = _assignable(x, value)
    if key is False:
        return
    # as one of several: a slice of everything changes the tensor itself, and not a view
    part, picked = take_apart(x, (key,) if type(key) is slice and x._shape else unsqueezing(key))
    if picked:
        put_: Any = part._assign_  # type: ignore[attr-defined]
        put_(without_leading_ones(value), checked_places(part, picked, value))
    elif part._shape == value._shape:
        part.copy_(value)
    elif not value._shape:
        part.fill_(value)
    else:
        part.copy_(_stretched(value, part._shape))


def take_apart(x: Tensor, key: Any) -> tuple[Tensor, Picked]:
    """Return the view that numbers, slices and Nones of ``key`` select, and what indexes it."""
    kind = type(key)
    if kind is int:
        return _selected(x, 0, key, 0), []
    if kind is slice:
        if not x._shape:
            raise IndexError("slice() cannot be applied to a 0-dim tensor.")
        return index.slice_(x, 0, *_bounds(key)), []
    if kind is not tuple:
        key = tuple(key) if _stands_for_tuple(key) else (key,)
    used = 0
    for part in key:
        kind = type(part)
        if kind is int or kind is slice:
            used += 1
        elif part is not None and part is not Ellipsis and kind is not bool:
            used += _covers(part)
    if used > len(x._shape):
        raise IndexError(f"too many indices for tensor of dimension {x.ndim}")
    dim, rest, picked = 0, x, []
    for place, part in enumerate(key):
        kind = type(part)
        if kind not in _PLAIN:
            part = _readable(part)
            kind = type(part)
        if kind is slice:
            rest = _sliced(rest, dim, part)
            dim += 1
        elif kind is int:
            rest = _selected(rest, dim, part, place)
        elif part is Ellipsis:
            dim += len(x._shape) - used
        elif part is None:
            rest = shape.unsqueeze(rest, dim)
            dim += 1
        elif kind is bool:
            rest = shape.unsqueeze(rest, dim)
            picked.append((dim, Tensor.from_array(np.zeros(int(part), np.int64)), 1))
            dim += 1
        else:
            picked.append((dim, part, covered := _covers(part)))
            dim += covered
    return rest, _positions(picked) if picked else picked


# What a key may hold


def _stands_for_tuple(key: Any) -> bool:
    """Return whether ``key`` is a sequence that is read as a tuple: a short one of more than
    numbers."""
    if isinstance(key, tuple):
        return True
    if isinstance(key, (Tensor, np.ndarray)) or not _is_sequence(key) or len(key) >= 32:
        return False
    for part in key:
        if type(part) not in _NUMBERS and (
            part is None
            or part is Ellipsis
            or isinstance(part, (Tensor, slice))
            or _is_sequence(part)
        ):
            warn(_NOT_A_TUPLE)
            return True
    return False


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (Sequence, np.ndarray))


def _readable(part: Any) -> Any:
    """Return a part of a key as an int, a bool, or a tensor that is neither.

    Raises:
        IndexError: it is no index; in PyTorch's words.
    """
    if isinstance(part, Tensor):
        return _number_of(part)
    if _is_sequence(part):
        return _number_of(_index_tensor(part))
    try:
        return operator.index(part)
    except TypeError:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
            f"valid indices (got {type_name(part)})"
        ) from None


def _number_of(part: Tensor) -> Any:
    """Return the number in a 0-d tensor of whole numbers, the bool in a mask, else ``part``."""
    if part._shape or part.dtype.is_floating_point:
        return part
    number = part.item()
    return bool(number) if part.dtype in _MASKS else number


def _index_tensor(sequence: Any) -> Tensor:
    """Return numbers as a tensor of int64, truth values and uint8 as a mask."""
    if isinstance(sequence, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(sequence).__name__}'")
    if isinstance(sequence, np.ndarray):
        array = sequence
    elif type(sequence) is list and sequence and type(sequence[0]) in _NUMBERS:
        array = np.array(sequence)
    else:
        array = tensor(sequence).array
    if array.dtype.kind not in "bu":
        array = array.astype(np.int64, copy=False)
    return Tensor.from_array(array)


def type_name(value: Any) -> str:
    """Return what C calls the type of ``value``: NumPy's with the name of their module."""
    kind = type(value)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def _covers(part: Any) -> int:
    """Return how many dimensions this part of a key takes up."""
    return part.ndim if isinstance(part, Tensor) and part.dtype in _MASKS else 1


# Views


def _selected(x: Tensor, dim: int, number: int, place: int) -> Tensor:
    """Element ``number`` of dimension ``dim``, which was number ``place`` to begin with."""
    if not x._shape:
        raise IndexError(
            "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or "
            "`tensor.item<T>()` in C++ to convert a 0-dim tensor to a number"
        )
    size = x._shape[dim] if dim < len(x._shape) else 0
    if not -size <= number < size:
        raise IndexError(f"index {number} is out of bounds for dimension {place} with size {size}")
    return index.select(x, dim, number)


def _sliced(x: Tensor, dim: int, part: slice) -> Tensor:
    if part == _ALL:
        return x
    start, stop, step = _bounds(part)
    if (start or 0) == 0 and step == 1 and (stop is None or stop >= x._shape[dim]):
        return x
    return index.slice_(x, dim, start, stop, step)


def _bounds(part: slice) -> tuple[int | None, int | None, int]:
    """Start, end and step; as numbers, whatever has stood for them."""
    start, stop, step = (
        bound if bound is None or type(bound) is int else _index_of(bound)
        for bound in (part.start, part.stop, part.step)
    )
    if step == 0:
        raise ValueError("slice step cannot be zero")
    return start, stop, 1 if step is None else step


def _index_of(number: Any) -> int:
    try:
        return operator.index(number)
    except TypeError:
        raise TypeError(
            "slice indices must be integers or None or have an __index__ method"
        ) from None


# Places


def _positions(picked: list[tuple[int, Tensor, int]]) -> Picked:
    """Return tensors for certain dimensions as one index, with whole slices between them."""
    indices: Picked = []
    covered = 0
    for dim, part, number in picked:
        indices += [_ALL] * (dim - covered)
        indices.append(part)
        covered = dim + number
    return indices


def plain_indices(indices: Iterable[Any]) -> Held:
    """Return tensors as NumPy's advanced indexing takes them: numbers, or masks of truth values.

    Raises:
        IndexError: a tensor has another dtype.
    """
    parts, tensors = [], []
    for part in indices:
        known = isinstance(part, Tensor)
        parts.append(_plain(part) if known else part)
        tensors.append(part if known else None)
    return Held(parts, tensors)


def _plain(part: Tensor) -> Any:
    kind = part.dtype
    if kind is int64 or kind is bool_ or kind is int32:
        if kind is not bool_:
            trace_taken_out("indexing", part)
        return part.array
    if kind is not uint8:
        raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
    warn(
        "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."
    )
    return index_array(part)


def checked_places(
    x: Tensor, indices: Sequence[Any], values: Tensor, accumulate: bool = False
) -> Held:
    """Return where in ``x``, as NumPy takes it, to put ``values``, which must have its dtype; but
    the one value for what a mask picks may have any."""
    parts = [part for part in indices if isinstance(part, Tensor)]
    one_mask = len(parts) == 1 and parts[0].dtype in _MASKS and values.numel() == 1
    if one_mask and not accumulate:
        if parts[0].dtype is uint8:
            masks = (index_array(part) if isinstance(part, Tensor) else part for part in indices)
            raise index.misfitting_mask(x._shape, masks) or RuntimeError(
                "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"
            )
        return plain_indices(indices)
    places = plain_indices(indices)
    if values.dtype is not x.dtype:
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{x.dtype.scalar_name} for the destination and {values.dtype.scalar_name} for the "
            "source."
        )
    return places


# What is assigned


def _assignable(x: Tensor, value: Any) -> Tensor:
    """Return ``value`` as a tensor; a number, of the dtype of ``x``."""
    if isinstance(value, Tensor):
        return value
    if not isinstance(value, (bool, int, float, complex, np.integer)):
        raise TypeError(f"can't assign a {type_name(value)} to a torch.{x.dtype.scalar_name}Tensor")
    if x.dtype is float16:  # by way of double, as PyTorch does: what is too large becomes infinite
        with np.errstate(over="ignore"):
            number = fitting_number(value, float64.dtype)
            return Tensor.from_array(number.astype(np.float16))
    return Tensor.from_array(fitting_number(value, x.dtype.dtype))


def unsqueezing(key: Any) -> Any:
    """Return ``key``, but for True, to which all of a tensor can be assigned as to ``x[None]``."""
    return None if key is True else key


def without_leading_ones(value: Tensor) -> Tensor:
    """Return ``value`` without the dimensions of size 1 in front."""
    return _cut(value) if value._shape[:1] == (1,) else value


def _stretched(value: Tensor, size: tuple[int, ...]) -> Tensor:
    """Return a view of ``value`` of another ``size``, which its last dimensions stretch to."""
    cut = _cut(value)
    return cut if cut._shape == size else shape.expand(cut, size)


def _cut(value: Tensor) -> Tensor:
    size = value._shape
    return shape.view(value, size[next((dim for dim, n in enumerate(size) if n != 1), len(size)) :])
