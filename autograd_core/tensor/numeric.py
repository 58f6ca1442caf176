"""Constants, limits of dtypes, and PyTorch's legacy tensor types."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from autograd_core.dtype import (
    bool_,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    int8,
    int16,
    int32,
    int64,
    number_dtype,
    promote_types,
    uint8,
)
from autograd_core.dtype import result_type as combined
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import Size

__all__ = [
    "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor", "FloatTensor", "HalfTensor",
    "IntTensor", "LongTensor", "ShortTensor", "broadcast_shapes", "can_cast", "e", "finfo", "iinfo",
    "inf", "nan", "newaxis", "pi", "promote_types", "result_type", "set_num_threads",
]  # fmt: skip

e: Final = math.e
inf: Final = math.inf
nan: Final = math.nan
pi: Final = math.pi
newaxis: Final = None


def set_num_threads(int: int) -> None:  # the name of PyTorch's argument
    """Do nothing: NumPy's settings hold. Scripts for PyTorch begin with this line."""


class finfo:  # lower case, as PyTorch spells it
    """The limits of a floating point dtype.

    >>> import autograd_core as torch
    >>> torch.finfo(torch.float32).eps, torch.finfo(torch.float16).max
    (1.1920928955078125e-07, 65504.0)
    """

    def __init__(self, type: dtype | None = None) -> None:
        kind = get_default_dtype() if type is None else type
        if not kind.is_floating_point:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                "'torch.finfo'"
            )
        limits = np.finfo(kind.dtype)
        self.bits = int(limits.bits)
        self.dtype = kind.name
        self.eps, self.max, self.min = (float(v) for v in (limits.eps, limits.max, limits.min))
        self.tiny = self.smallest_normal = float(limits.smallest_normal)
        self.resolution = float(f"1e-{limits.precision}")

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        values = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({values}, dtype={self.dtype})"


class iinfo:  # lower case, as PyTorch spells it
    """The limits of an integer dtype."""

    def __init__(self, type: dtype) -> None:
        if type.category != 1:
            raise TypeError(
                "torch.iinfo() requires an integer input type. Use torch.finfo to handle "
                "'torch.iinfo'"
            )
        limits = np.iinfo(type.dtype)
        self.bits, self.max, self.min = int(limits.bits), int(limits.max), int(limits.min)
        self.dtype = type.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


def _operand(value: Any) -> tuple[dtype, int]:
    if isinstance(value, Tensor):
        return value.dtype, 2 if value._shape else 1
    return number_dtype(value), 0


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """Return the dtype of the result of an elementwise op on two tensors or numbers."""
    return combined(_operand(tensor1), _operand(tensor2))


def can_cast(from_: dtype, to: dtype) -> bool:
    """Return whether type promotion allows a cast from one dtype to the other."""
    return from_.category <= to.category


def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape to which tensors of these shapes broadcast."""
    return Size(np.broadcast_shapes(*shapes))


class _LegacyType(type):
    """Lets ``isinstance`` recognise tensors by their dtype."""

    kind: dtype

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.kind

    def __call__(cls, *data: Any) -> Tensor:
        """From data as it is, or, given sizes, of zeros."""
        return Tensor.from_array(np.zeros(0, cls.kind.dtype)).new(*data or (0,))


FloatTensor = _LegacyType("FloatTensor", (), {"kind": float32})
DoubleTensor = _LegacyType("DoubleTensor", (), {"kind": float64})
HalfTensor = _LegacyType("HalfTensor", (), {"kind": float16})
LongTensor = _LegacyType("LongTensor", (), {"kind": int64})
IntTensor = _LegacyType("IntTensor", (), {"kind": int32})
ShortTensor = _LegacyType("ShortTensor", (), {"kind": int16})
CharTensor = _LegacyType("CharTensor", (), {"kind": int8})
ByteTensor = _LegacyType("ByteTensor", (), {"kind": uint8})
BoolTensor = _LegacyType("BoolTensor", (), {"kind": bool_})
