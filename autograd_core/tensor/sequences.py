"""Lists of numbers, lists of such lists, and tensors of one element among the numbers."""

from __future__ import annotations

from typing import Any

from autograd_core.dtype import dtype, number_dtype, promote_types
from autograd_core.tensor.base import TensorBase


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
        parts = [without_tensors(each) for each in data]
        kind: dtype | None = None
        for _, own in parts:
            kind = own if kind is None else kind if own is None else promote_types(kind, own)
        return [values for values, _ in parts], kind
    if isinstance(data, TensorBase):
        return float(data) if data.dtype.is_floating_point else int(data), data.dtype
    return data, number_dtype(data)
