"""What tensors are made of: nested lists of numbers, and the arguments of ``Tensor(2, 3)``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from autograd_core.dtype import dtype, number_dtype, promote_types
from autograd_core.tensor.size import Size

if TYPE_CHECKING:
    from autograd_core.dtype import dtype as dtype_type


class TensorBase:
    """The base of :class:`~autograd_core.Tensor`, by which modules below it recognize one."""

    __slots__ = ()

    if TYPE_CHECKING:
        array: NDArray[Any]
        dtype: dtype_type

        def __float__(self) -> float: ...
        def __int__(self) -> int: ...


def holds_tensors(data: Any) -> bool:
    """Return whether there is a tensor among the first numbers of the nested lists ``data``."""
    first, row = data, ()
    while isinstance(first, (list, tuple)) and first:
        first, row = first[0], first
    return any(issubclass(kind, TensorBase) for kind in set(map(type, row)))


def without_tensors(data: Any) -> tuple[Any, dtype | None]:
    """Return the same nested lists with the numbers that tensors hold, and the dtype of all
    together; None if there is nothing in them.

    Raises:
        ValueError: a tensor has more than one element; in PyTorch's words.
    """
    if isinstance(data, (list, tuple)):
        parts = [without_tensors(element) for element in data]
        kind: dtype | None = None
        for _, own in parts:
            kind = own if kind is None else kind if own is None else promote_types(kind, own)
        return [values for values, _ in parts], kind
    if isinstance(data, TensorBase):
        return float(data) if data.dtype.is_floating_point else int(data), data.dtype
    return data, number_dtype(data)


def legacy_array(kind: dtype, data: tuple[Any, ...]) -> NDArray[Any]:
    """Return zeros, if ``data`` are sizes (PyTorch leaves the elements as they are in memory); else
    the one tensor, whose memory is shared, or the array or sequence, which is copied.

    Raises:
        RuntimeError: a size is negative.
        TypeError: it is something else; both in PyTorch's words.
    """
    values = data[0] if len(data) == 1 else None
    if values is None or isinstance(values, (int, np.integer, Size)):
        sizes = values if isinstance(values, Size) else data or (0,)
        if any(size < 0 for size in sizes):
            negative = next(size for size in sizes if size < 0)
            raise RuntimeError(
                f"Trying to create tensor with negative dimension {negative}: {list(sizes)}"
            )
        return np.zeros(sizes, kind.dtype)
    if isinstance(values, str):
        raise TypeError("new(): invalid data type 'str'")
    if isinstance(values, TensorBase):
        return values.array
    if not hasattr(values, "__len__"):
        raise TypeError(f"new(): data must be a sequence (got {type(values).__name__})")
    if holds_tensors(values):
        values, _ = without_tensors(values)
    return np.array(values, dtype=kind.dtype)
