"""The dtypes, under PyTorch's names, and how they combine.

A :class:`dtype` wraps the NumPy one, and NumPy accepts it wherever it takes a dtype.
Real numbers only: complex, quantised and sparse tensors are out of scope.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np

Number: TypeAlias = bool | int | float


class dtype:  # lower case, as PyTorch spells it
    """A tensor's element type; the ten instances of this module are all there are.

    >>> import numpy as np
    >>> from autograd_core import float32, int64
    >>> float32, float32.is_floating_point, np.zeros(1, dtype=int64).dtype.name
    (torch.float32, True, 'int64')
    """

    __slots__ = (
        "c_name", "category", "dtype", "is_complex", "is_floating_point", "is_signed", "itemsize",
        "name", "scalar_name",
    )  # fmt: skip

    def __init__(
        self, name: str, numpy_dtype: type[np.generic], category: int, scalar_name: str, c_name: str
    ) -> None:
        self.name = name
        self.scalar_name = scalar_name  # what most of PyTorch's error messages call it
        self.c_name = c_name  # what the others do
        self.dtype = np.dtype(numpy_dtype)
        self.category = category  # 0 bool, 1 integer, 2 float: PyTorch promotes by these first
        self.is_floating_point = category == 2
        self.is_complex = False
        self.is_signed = category != 0 and name != "uint8"
        self.itemsize = self.dtype.itemsize

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return "bool_" if self.name == "bool" else self.name


float64: Final = dtype("float64", np.float64, 2, "Double", "double")
float32: Final = dtype("float32", np.float32, 2, "Float", "float")
float16: Final = dtype("float16", np.float16, 2, "Half", "c10::Half")
int64: Final = dtype("int64", np.int64, 1, "Long", "long int")
int32: Final = dtype("int32", np.int32, 1, "Int", "int")
int16: Final = dtype("int16", np.int16, 1, "Short", "short int")
int8: Final = dtype("int8", np.int8, 1, "Char", "signed char")
uint8: Final = dtype("uint8", np.uint8, 1, "Byte", "unsigned char")
bool_: Final = dtype("bool", np.bool_, 0, "Bool", "bool")
double, float_, half = float64, float32, float16
long, int_, short = int64, int32, int16

ALL: Final = (float64, float32, float16, int64, int32, int16, int8, uint8, bool_)
_BY_NUMPY: Final = {d.dtype: d for d in ALL}
_default: dtype = float32


def get_default_dtype() -> dtype:
    """Return the dtype of tensors made from Python floats."""
    return _default


def set_default_dtype(d: dtype) -> None:
    """Make ``d`` the dtype of tensors made from Python floats; floating point only."""
    global _default
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default = d


def from_numpy_dtype(d: np.dtype[np.generic]) -> dtype:
    """Return the dtype that wraps ``d``.

    Raises:
        TypeError: NumPy has this type and we do not (complex, strings, objects).
    """
    try:
        return _BY_NUMPY[d]
    except KeyError:
        raise TypeError(
            f"can't convert np.ndarray of type {d.name}. The only supported types are: "
            "float64, float32, float16, int64, int32, int16, int8, uint8, and bool."
        ) from None


def number_dtype(value: Number) -> dtype:
    """Return the dtype that a Python number takes on its own.

    Raises:
        TypeError: it is no number.
    """
    if type(value) is bool:
        return bool_
    if isinstance(value, int):
        return int64
    if not hasattr(value, "__float__"):
        raise TypeError(f"expected a number or a tensor, not {type(value).__name__}")
    return _default


def promote_types(a: dtype, b: dtype) -> dtype:
    """Return the smallest dtype that both fit into, by PyTorch's table.

    >>> import autograd_core as torch
    >>> torch.promote_types(torch.float16, torch.int64)
    torch.float16
    """
    if a is b:
        return a
    if a.category != b.category:
        return a if a.category > b.category else b
    return _BY_NUMPY[np.promote_types(a.dtype, b.dtype)]


def result_type(*operands: tuple[dtype, int]) -> dtype:
    """Return the dtype of an elementwise result.

    Each operand is (dtype, rank); rank is 2 for a tensor with dimensions, 1 for a 0-d
    tensor, 0 for a Python number.  The highest category decides, and within it the highest
    rank (PyTorch's type promotion rules).
    """
    top = max(d.category for d, _ in operands)
    result: dtype | None = None
    strongest = max(rank for d, rank in operands if d.category == top)
    for d, rank in operands:
        if d.category == top and rank == strongest:
            result = d if result is None else promote_types(result, d)
    assert result is not None
    if strongest == 0 and top == 2:
        return _default
    return result
