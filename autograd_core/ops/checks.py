"""Checks that several families of ops share."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_core.dtype import ALL, dtype, from_numpy_dtype, promote_types


def _limits(kind: dtype) -> tuple[Any, Any]:
    if kind.is_floating_point:
        return float(np.finfo(kind.dtype).min), float(np.finfo(kind.dtype).max)
    return int(np.iinfo(kind.dtype).min), int(np.iinfo(kind.dtype).max)


_LIMITS: Final = {kind.dtype: _limits(kind) for kind in ALL if kind.category}


def fitting_number(value: Any, kind: Any) -> Any:
    """Return the number ``value`` as an array of no dimensions; -1 as uint8 is 255, as in C.

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
            raise RuntimeError(
                f"expected scalar type {scalar_name(expected)} but found {scalar_name(other)}"
            )


def check_one(name: str, dim: Any) -> None:
    """A dimension is one number, where NumPy would take several, or none.

    Raises:
        TypeError: it is not; in PyTorch's words.
    """
    if not isinstance(dim, int):
        raise TypeError(f"{name}(): argument 'dim' must be int, not {type(dim).__name__}")


def scalar_name(value: Any) -> str:
    """Return what PyTorch's error messages call the dtype of an array or a tensor."""
    kind = value.dtype
    return kind.scalar_name if isinstance(kind, dtype) else from_numpy_dtype(kind).scalar_name


def c_name(value: Any) -> str:
    """Return what others of them call it: its name in C++."""
    kind = value.dtype
    return kind.c_name if isinstance(kind, dtype) else from_numpy_dtype(kind).c_name


def check_implemented(kernel: str, x: Any, half: bool = True) -> None:
    """``x`` is an array of floating point numbers, which is all that ``kernel`` is for."""
    if x.dtype.kind != "f" or (not half and x.dtype == np.float16):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(x)}'")


def check_not_bool(kernel: str, x: Any) -> None:
    """``x`` is an array of numbers, which is all that ``kernel`` is for."""
    if x.dtype.kind == "b":
        raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


def check_castable(x: Any, to: Any) -> None:
    """``x`` may be put where the dtype is ``to``: no fraction becomes a whole number."""
    if from_numpy_dtype(x.dtype).category > from_numpy_dtype(to.dtype).category:
        raise RuntimeError(
            f"result type {scalar_name(x)} can't be cast to the desired output type "
            f"{scalar_name(to)}"
        )


def check_found(expected: Any, found: Any) -> None:
    """``found`` has the dtype of ``expected``; of an array or a tensor."""
    if found.dtype != expected.dtype:
        raise RuntimeError(f"Found dtype {scalar_name(found)} but expected {scalar_name(expected)}")


def check_factors(a: Any, b: Any) -> None:
    """Two vectors whose product is taken have one dtype and one size."""
    if a.ndim != 1 or b.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {a.ndim}D and {b.ndim}D tensors")
    if a.dtype != b.dtype:
        raise RuntimeError(
            "dot : expected both vectors to have same dtype, but found "
            f"{scalar_name(a)} and {scalar_name(b)}"
        )
    if a.shape != b.shape:
        raise RuntimeError(
            "inconsistent tensor size, expected tensor "
            f"[{a.size}] and src [{b.size}] to have the same number of elements, but got "
            f"{a.size} and {b.size} elements respectively"
        )
    check_not_bool("dot", a)


def promoted(x: Any, y: Any) -> tuple[Any, Any]:
    """Return both arrays in their common dtype, which is PyTorch's, not NumPy's."""
    if x.dtype == y.dtype:
        return x, y
    kind = promote_types(from_numpy_dtype(x.dtype), from_numpy_dtype(y.dtype)).dtype
    return x.astype(kind, copy=False), y.astype(kind, copy=False)


class _LinAlgError(RuntimeError):
    """A system of equations that has no solution, or many; a matrix that is no such matrix."""


LinAlgError = _LinAlgError  # PyTorch's shows the name with the underscore
