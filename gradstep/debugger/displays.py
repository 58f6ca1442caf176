"""Displays: expressions whose values are shown at every stop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gradstep.debugger.breakpoints.logtext import format_value
from gradstep.debugger.breakpoints.predicate import (
    Expression,
    ExpressionSubject,
    NodeSubject,
    Nowhere,
    arriving,
    parse,
)
from gradstep.debugger.errors import ExpressionError, StepLost, Unanswerable
from gradstep.debugger.passes.inspector import Inspector
from gradstep.debugger.snapshot import Display


def read_expression(inspector: Inspector, text: str) -> Expression:
    """Understand an expression, in which tensors of the program may stand by their names.

    Raises:
        ExpressionError: it means nothing.
    """
    variables = inspector.graph.variables
    return parse(text, lambda word: inspector.tensor(word) is not None, variables.values)


def subject_at(inspector: Inspector, index: int | None) -> ExpressionSubject:
    """Choose what an expression about node ``index`` speaks of: the gradient that arrives there."""
    if index is None:
        return Nowhere(inspector)
    first = next(arriving(inspector, index), None)
    return first or NodeSubject(inspector, index, None, "in")


def values_of(
    expressions: Mapping[int, str], inspector: Inspector, index: int | None
) -> Iterator[Display]:
    """Yield each expression, by its number, with the value that it has at node ``index``."""
    for number, text in expressions.items():
        try:
            expression = read_expression(inspector, text)
            value = expression.value(subject_at(inspector, index))
        # a name may be known in one call only
        except (Unanswerable, ExpressionError, StepLost) as reason:
            yield Display(number, f"{text} is unknown ({reason})")
        else:
            yield Display(number, f"{expression.text} = {format_value(value)}")
