"""Checks that several families of ops share."""

from __future__ import annotations

from typing import Any

from autograd_core.dtype import from_numpy_dtype

# What PyTorch calls the dtypes where its C++ speaks.
C_NAMES = {"float64": "double", "float32": "float", "float16": "c10::Half", "int64": "int64_t",
           "int32": "int", "int16": "short", "int8": "signed char", "uint8": "unsigned char",
           "bool": "bool"}  # fmt: skip


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
