"""Arithmetic on tensors, element by element, as expressions spell it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from gradstep.debugger.errors import Unanswerable
from gradstep.debugger.snapshot import Value
from gradstep.debugger.snapshot.tensor_views import part_of


def _array(operand: Any) -> Any:
    """Return a tensor as numbers, a number as it is."""
    return operand.array if isinstance(operand, Value) else operand


def elementwise(function: Callable[..., Any]) -> Callable[..., Value]:
    """Return ``function`` of tensors and numbers, as a tensor; what is no number becomes NaN,
    unheard."""

    def compute(*operands: Any) -> Value:
        with np.errstate(all="ignore"):
            return Value(np.asarray(function(*map(_array, operands))))

    return compute


def chosen(value: Value, mask: Value) -> Value:
    """Return the elements of ``value`` at which ``mask`` is true, in one row."""
    try:
        return Value(np.asarray(value.array[np.asarray(mask.array)]))
    except IndexError:
        raise Unanswerable(
            f"a condition on {list(mask.shape)} does not choose from {list(value.shape)}"
        ) from None


def part(index: Sequence[int | slice | None], text: str, value: Value) -> Value:
    """Return the part of ``value`` that was written as ``text``."""
    try:
        return Value(part_of(value.array, index, text))
    except ValueError as error:
        raise Unanswerable(str(error)) from None


BY_ELEMENT: Final[Mapping[str, Callable[[Any], Any]]] = {
    "abs": np.abs,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "isnan": np.isnan,
    "isinf": np.isinf,
}
"""Functions that make a tensor of one."""
REDUCING: Final[Mapping[str, Callable[[Any], Any]]] = {
    "sum": np.sum,
    "mean": np.mean,
    "min": np.min,
    "max": np.max,
}
"""Functions that make a number of a tensor."""


def reduced(function: Callable[[Any], Any]) -> Callable[[Value], float]:
    """Return ``function`` of the elements of a tensor."""

    def compute(value: Value) -> float:
        if not value.array.size:
            raise ArithmeticError("there are no elements")
        with np.errstate(all="ignore"):
            return float(function(value.array))

    return compute


def some(value: Value) -> bool:
    """Return whether a condition holds of some element."""
    return bool(np.any(value.array))


def every(value: Value) -> bool:
    """Return whether a condition holds of every element."""
    return bool(np.all(value.array))
