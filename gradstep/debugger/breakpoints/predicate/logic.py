"""The operators of expressions, over values of which some are unknown.

Truth has three values.  What is unknown (the gradient of a node that has not run) or undefined
is None; it fulfils no comparison, and no negation of one.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

from gradstep.debugger.breakpoints.predicate.vocabulary import ExpressionSubject, Kind

Evaluate = Callable[[ExpressionSubject], Any]
ARITHMETIC: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_ORDER: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_EQUALITY: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
BY_COMPARISON: Final[dict[type[ast.cmpop], Callable[[Any, Any], Any]]] = {**_ORDER, **_EQUALITY}
"""Comparisons that tensors have, element by element."""
_MEMBERSHIP: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.In: lambda part, whole: part in whole,
    ast.NotIn: lambda part, whole: part not in whole,
}


def any_of(parts: Sequence[Evaluate]) -> Evaluate:
    """Kleene's or: true if one is true, else unknown if one is unknown."""

    def evaluate(subject: ExpressionSubject) -> bool | None:
        unknown = False
        for part in parts:
            answer = part(subject)
            if answer:
                return True
            unknown |= answer is None
        return None if unknown else False

    return evaluate


def negation(part: Evaluate) -> Evaluate:
    """Not: unknown where the part is."""

    def evaluate(subject: ExpressionSubject) -> bool | None:
        answer = part(subject)
        return None if answer is None else not answer

    return evaluate


def all_of(parts: Sequence[Evaluate]) -> Evaluate:
    """Kleene's and: false if one is false, else unknown if one is unknown."""
    return negation(any_of([negation(part) for part in parts]))


def applied(function: Callable[..., Any], *parts: Evaluate) -> Evaluate:
    """Return ``function`` of the parts, unknown where one of them is."""

    def evaluate(subject: ExpressionSubject) -> Any:
        values = [part(subject) for part in parts]
        return None if any(value is None for value in values) else function(*values)

    return evaluate


def real(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], float]:
    """Return ``function``, refusing results that are no real number."""

    def compute(left: float, right: float) -> float:
        number = function(left, right)
        if isinstance(number, complex):
            raise ArithmeticError("a negative number has no such power")
        return float(number)

    return compute


def comparing(form: type[ast.cmpop], left: Kind, right: Kind) -> Callable[[Any, Any], bool] | None:
    """Choose how values of these kinds are compared, None where they are not."""
    if form in _ORDER and left == right == "number":
        return _ORDER[form]
    if form in _EQUALITY and left == right and left in ("number", "text", "shape"):
        return _EQUALITY[form]
    listed = (("number", "shape"), ("text", "texts"), ("text", "text"))
    return _MEMBERSHIP.get(form) if (left, right) in listed else None
