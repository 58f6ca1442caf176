"""Checks that several families of ops share."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_core.dtype import ALL, dtype, from_numpy_dtype


def _limits(kind: dtype) -> tuple[Any, Any]:
    if kind.is_floating_point:
        return float(np.finfo(kind.dtype).min), float(np.finfo(kind.dtype).max)
    return int(np.iinfo(kind.dtype).min), int(np.iinfo(kind.dtype).max)


_LIMITS: Final = {kind.dtype: _limits(kind) for kind in ALL if kind.category}


def fitting_number(value: Any, kind: Any) -> Any:
    """The number ``value`` as an array of no dimensions; -1 as uint8 is 255, as in C.

    Raises:
        RuntimeError: it lies beyond the numbers of this dtype; in PyTorch's words.
    """
    limits = _LIMITS.get(kind)
    if limits is None:  # bool
        return np.array(value, kind)
    low, high = limits
    if isinstance(value, complex):
        raise _overflow(kind)
    if kind.kind == "f":
        if high < abs(value) < math.inf:
            raise _overflow(kind)
        return np.array(value, kind)
    wraps = kind.kind == "u" and not isinstance(value, float)
    if not (-high if wraps else low) <= value <= high:
        raise _overflow(kind)
    return np.array(int(value)).astype(kind)


def _overflow(kind: Any) -> RuntimeError:
    names = {"float16": "c10::Half", "float32": "float", "float64": "double", "int32": "int"}
    name = names.get(kind.name, f"{kind.name}_t")
    return RuntimeError(f"value cannot be converted to type {name} without overflow")


def check_same_dtype(expected: Any, *others: Any) -> None:
    """All arrays, apart from those that are None, have the dtype of the first.

    Without this NumPy would promote, and gradients come out in a dtype that no input has.
    """
    for other in others:
        if other is not None and other.dtype != expected.dtype:
            names = (from_numpy_dtype(array.dtype).scalar_name for array in (expected, other))
            raise RuntimeError("expected scalar type {} but found {}".format(*names))


class _LinAlgError(RuntimeError):
    """A system of equations that has no solution, or many; a matrix that is no such matrix."""


LinAlgError = _LinAlgError  # PyTorch's shows the name with the underscore
