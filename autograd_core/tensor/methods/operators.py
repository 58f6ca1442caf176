"""What ``+``, ``<`` and their like do with a tensor on one side, and what they leave to Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autograd_core import functions
from autograd_core.dtype import Number
from autograd_core.ops.algebra import linalg
from autograd_core.ops.pointwise import arithmetic, elementwise, logic
from autograd_core.tensor import Tensor

_OPERANDS = (Tensor, bool, int, float, complex, np.generic, np.ndarray)


def left_to_python(
    call: Callable[..., Any], operands: tuple[type, ...] = _OPERANDS
) -> Callable[..., Any]:
    """Return ``call`` as an operator: what is none of ``operands`` may know itself what to do with
    a tensor; if it does not, Python says so."""

    @wraps(call)
    def operator(self: Tensor, other: Any) -> Any:
        try:
            return call(self, other)
        except TypeError:
            if isinstance(other, operands):
                raise
            return NotImplemented

    return operator


def _not_after_arrays(operator: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``operator`` with a tensor on its right, which Python refuses after an array."""

    @wraps(operator)
    def method(self: Tensor, other: Any) -> Any:
        return NotImplemented if type(other) is np.ndarray else operator(self, other)

    return method


def _reflected(call: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Tensor, other: Any) -> Tensor:
        result: Tensor = call(other, self)
        return result

    return method


def _comparison(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``==`` and ``!=``, which Python also asks about things that are no numbers."""

    def method(self: Tensor, other: Any) -> Any:
        comparable = isinstance(other, (Tensor, Number, np.generic))
        return call(self, other) if comparable else NotImplemented

    return method


_NUMERIC: dict[str, Callable[..., Any]] = {
    "__add__": elementwise.add,
    "__sub__": elementwise.sub,
    "__mul__": elementwise.mul,
    "__truediv__": elementwise.div,
    "__rtruediv__": arithmetic.rdiv,  # a product with the reciprocal: of arrays, too
    "__rdiv__": arithmetic.rdiv,
    "__pow__": functions.pow,
    "__mod__": functions.remainder,
    "__floordiv__": functions.floor_divide,
    "__and__": logic.bitwise_and,
    "__or__": logic.bitwise_or,
    "__xor__": logic.bitwise_xor,
    "__lshift__": logic.bitwise_left_shift,
    "__rshift__": logic.bitwise_right_shift,
    "__lt__": elementwise.lt,
    "__le__": elementwise.le,
    "__gt__": elementwise.gt,
    "__ge__": elementwise.ge,
}

_RIGHT: dict[str, Callable[..., Any]] = {
    "__radd__": elementwise.add,
    "__rsub__": arithmetic.rsub,
    "__rmul__": elementwise.mul,
    "__rpow__": _reflected(functions.pow),
    "__rmod__": _reflected(functions.remainder),
    "__rfloordiv__": _reflected(functions.floor_divide),
    "__rand__": logic.bitwise_and,
    "__ror__": logic.bitwise_or,
    "__rxor__": logic.bitwise_xor,
    "__rlshift__": _reflected(logic.bitwise_left_shift),
    "__rrshift__": _reflected(logic.bitwise_right_shift),
    "__rmatmul__": _reflected(linalg.matmul),
}

BINARY: dict[str, Callable[..., Any]] = {
    **{name: left_to_python(call) for name, call in _NUMERIC.items()},
    **{name: _not_after_arrays(left_to_python(call)) for name, call in _RIGHT.items()},
    "__matmul__": left_to_python(linalg.matmul, (Tensor, np.ndarray)),
    "__eq__": _comparison(elementwise.eq),
    "__ne__": _comparison(elementwise.ne),
}

AUGMENTED: dict[str, str] = {
    "__iadd__": "add_",
    "__isub__": "sub_",
    "__imul__": "mul_",
    "__itruediv__": "div_",
    "__ipow__": "pow_",
    "__imod__": "remainder_",
    "__ifloordiv__": "floor_divide_",
    "__iand__": "bitwise_and_",
    "__ior__": "bitwise_or_",
    "__ixor__": "bitwise_xor_",
}
