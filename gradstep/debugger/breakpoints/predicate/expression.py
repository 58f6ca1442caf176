"""Expressions, from their text to their value."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from gradstep.debugger.breakpoints.predicate.logic import Evaluate, any_of
from gradstep.debugger.breakpoints.predicate.meaning import WHAT, Compiler, elements
from gradstep.debugger.breakpoints.predicate.source import ExpressionText
from gradstep.debugger.breakpoints.predicate.vocabulary import ExpressionSubject, Kind
from gradstep.debugger.errors import ExpressionError, Unanswerable


class Expression(NamedTuple):
    """An expression that was understood: its text, the kind of its values, how to find one."""

    text: str
    kind: Kind
    evaluate: Evaluate

    def value(self, subject: ExpressionSubject) -> Any:
        """Return the value for ``subject``; None where it is unknown or undefined.

        Raises:
            Unanswerable: it cannot be computed, or there is no such tensor.
        """
        try:
            return self.evaluate(subject)
        except (ArithmeticError, ValueError, LookupError) as error:
            reason = str(error.args[-1] if error.args else type(error).__name__)
            raise Unanswerable(reason) from None

    def holds(self, subject: ExpressionSubject) -> bool:
        """Return whether a condition is true of ``subject``; what is unknown is not.

        Raises:
            Unanswerable: see :meth:`value`.
        """
        return self.value(subject) is True


def parse(
    text: str,
    named: Callable[[str], bool] | None = None,
    names: Callable[[], Iterable[str]] = tuple,
) -> Expression:
    """Understand ``text``; ``named`` says whether a word is the name of a tensor of the program,
    ``names`` lists those of leaves.

    >>> parse("max - min").kind
    'number'

    Raises:
        ExpressionError: it means nothing in this language.
    """
    source = ExpressionText(text)
    return _expression(source, source.tree, named, names)


def parse_predicate(text: str) -> Expression:
    """Understand ``text`` as a condition; commas separate alternatives: ``nan, inf, rms>1e3``.

    Raises:
        ExpressionError: it is no condition of this language.
    """
    source = ExpressionText(text)
    tree = source.tree
    listed = isinstance(tree, ast.Tuple) and not source.typed(tree).startswith("(")
    parts = [_expression(source, part) for part in elements(tree)] if listed else []
    parts = parts or [_expression(source, tree)]
    for part, place in zip(parts, elements(tree) if listed else [tree]):
        if part.kind != "flag":
            hint = f": compare it, as in {part.text} > 10" if part.kind == "number" else ""
            if part.kind == "mask":
                hint = f": ask for any({part.text}) or all(...)"
            raise ExpressionError(
                f"{part.text} is {WHAT[part.kind]}, no condition{hint}", source.start(place)
            )
    return Expression(text.strip(), "flag", any_of([part.evaluate for part in parts]))


def _expression(
    source: ExpressionText,
    tree: ast.expr,
    named: Callable[[str], bool] | None = None,
    names: Callable[[], Iterable[str]] = tuple,
) -> Expression:
    kind, evaluate = Compiler(source, named, names).compile(tree)
    return Expression(source.typed(tree), kind, evaluate)
