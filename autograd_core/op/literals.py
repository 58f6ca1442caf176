"""Rules whose numbers are arrays: the same arithmetic for NumPy, with less of its overhead.

NumPy takes 0.2 µs longer for ``1 - x`` than for the same with a 0-d array of the dtype of ``x``,
as much as for the subtraction itself.  So a rule that is plain arithmetic on arrays is tried once
with symbols, which write down what it does, and gets a twin that does the same with its numbers
as arrays: in the same order, with the same rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_core.op.record import Op


class _Symbol:
    """Stands for an array and writes down the arithmetic; refuses all else, decisions too."""

    def __init__(self, text: str, numbers: list[float]) -> None:
        self.text = text
        self.numbers = numbers

    def combined(self, before: Any, sign: str, after: Any) -> _Symbol:
        return _Symbol(f"({self.written(before)} {sign} {self.written(after)})", self.numbers)

    def written(self, operand: Any) -> str:
        """Return ``operand``, a symbol or a number, in a formula."""
        if isinstance(operand, _Symbol):
            return operand.text
        if type(operand) not in (int, float):
            raise TypeError("neither a symbol nor a number")
        self.numbers.append(operand)
        return f"number_{len(self.numbers) - 1}"

    def __add__(self, other: Any) -> _Symbol:
        return self.combined(self, "+", other)

    def __radd__(self, other: Any) -> _Symbol:
        return self.combined(other, "+", self)

    def __sub__(self, other: Any) -> _Symbol:
        return self.combined(self, "-", other)

    def __rsub__(self, other: Any) -> _Symbol:
        return self.combined(other, "-", self)

    def __mul__(self, other: Any) -> _Symbol:
        return self.combined(self, "*", other)

    def __rmul__(self, other: Any) -> _Symbol:
        return self.combined(other, "*", self)

    def __truediv__(self, other: Any) -> _Symbol:
        return self.combined(self, "/", other)

    def __rtruediv__(self, other: Any) -> _Symbol:
        return self.combined(other, "/", self)

    def __neg__(self) -> _Symbol:
        return _Symbol(f"-{self.text}", self.numbers)

    def __bool__(self) -> bool:
        raise TypeError("a symbol decides nothing")

    def __eq__(self, other: object) -> bool:
        raise TypeError("a symbol decides nothing")

    __hash__ = None  # type: ignore[assignment]


def in_float32(op: Op, edge: str) -> Callable[..., Any] | None:
    """Return the twin of the rule for input ``edge``, for gradients of that dtype; None if the rule
    has no numbers, or is not plain arithmetic on arrays."""
    if op.joint is not None or not op.pointwise or op.optional:
        return None
    rule = op.rules[edge]
    code = rule.function.__code__
    calls_others = bool(code.co_names or code.co_freevars)
    if calls_others or not {"g", *op.values, *op.outputs}.issuperset(rule.names):
        return None
    numbers: list[float] = []
    try:
        result = rule.function(*(_Symbol(name, numbers) for name in rule.names))
    except TypeError:
        return None
    if not numbers or type(result) is not _Symbol:
        return None
    constants = {f"number_{k}": np.array(number, np.float32) for k, number in enumerate(numbers)}
    twin: Callable[..., Any] = eval(f"lambda {', '.join(rule.names)}: {result.text}", constants)
    return twin
