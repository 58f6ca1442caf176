"""What an expression means: its syntax tree, interpreted over the listed vocabulary.

Truth has three values.  What is unknown (the gradient of a node that has not run) or undefined
fulfils no comparison, and no negation of one.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from autograd_core.debug.predicate.source import ExpressionError, Source
from autograd_core.debug.predicate.vocabulary import (
    FACTS,
    FUNCTIONS,
    STATISTICS,
    WORDS,
    Kind,
    Subject,
    is_tensor,
)
from autograd_core.debug.snapshot import Value

Evaluate = Callable[[Subject], Any]
_ARITHMETIC: Final[dict[type[ast.operator], Callable[[Any, Any], Any]]] = {
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
_MEMBERSHIP: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.In: lambda part, whole: part in whole,
    ast.NotIn: lambda part, whole: part not in whole,
}
_WHAT: Final[dict[Kind, str]] = {
    "flag": "true or false",
    "number": "a number",
    "text": "a text",
    "shape": "a list of numbers",
    "texts": "a list of texts",
    "tensor": "a tensor",
}


class Unanswerable(ValueError):
    """An expression that makes sense but has no value here: a division by zero, say."""


class Expression(NamedTuple):
    """An expression that was understood: its text, the kind of its values, how to find one."""

    text: str
    kind: Kind
    evaluate: Evaluate

    def value(self, subject: Subject) -> Any:
        """The value for ``subject``; None where it is unknown or undefined.

        Raises:
            Unanswerable: it cannot be computed, or there is no such tensor.
        """
        try:
            return self.evaluate(subject)
        except (ArithmeticError, ValueError, LookupError) as error:
            reason = str(error.args[-1] if error.args else type(error).__name__)
            raise Unanswerable(reason) from None

    def holds(self, subject: Subject) -> bool:
        """Whether a condition is true of ``subject``; what is unknown is not.

        Raises:
            Unanswerable: see :meth:`value`.
        """
        return self.value(subject) is True


def parse(text: str) -> Expression:
    """Understand ``text``.

    >>> parse("max - min").kind
    'number'

    Raises:
        ExpressionError: it means nothing in this language.
    """
    source = Source(text)
    return _expression(source, source.tree)


def parse_predicate(text: str) -> Expression:
    """Understand ``text`` as a condition; commas separate alternatives: ``nan, inf, rms>1e3``.

    >>> parse_predicate("rms >> 10")
    Traceback (most recent call last):
        ...
    autograd_core.debug.predicate.source.ExpressionError: unexpected '>'

    Raises:
        ExpressionError: it is no condition of this language.
    """
    source = Source(text)
    tree = source.tree
    listed = isinstance(tree, ast.Tuple) and not source.typed(tree).startswith("(")
    parts = [_expression(source, part) for part in _elements(tree)] if listed else []
    parts = parts or [_expression(source, tree)]
    for part, place in zip(parts, _elements(tree) if listed else [tree]):
        if part.kind != "flag":
            hint = f": compare it, as in {part.text} > 10" if part.kind == "number" else ""
            raise ExpressionError(
                f"{part.text} is {_WHAT[part.kind]}, no condition{hint}", source.start(place)
            )
    return Expression(text.strip(), "flag", _any([part.evaluate for part in parts]))


def _elements(tree: ast.expr) -> list[ast.expr]:
    return tree.elts if isinstance(tree, ast.Tuple | ast.List) else [tree]


def _expression(source: Source, tree: ast.expr) -> Expression:
    kind, evaluate = _Compiler(source).compile(tree)
    return Expression(source.typed(tree), kind, evaluate)


def _any(parts: Sequence[Evaluate]) -> Evaluate:
    """Kleene's or: true if one is true, else unknown if one is unknown."""

    def evaluate(subject: Subject) -> bool | None:
        unknown = False
        for part in parts:
            found = part(subject)
            if found:
                return True
            unknown |= found is None
        return None if unknown else False

    return evaluate


def _negation(part: Evaluate) -> Evaluate:
    def evaluate(subject: Subject) -> bool | None:
        found = part(subject)
        return None if found is None else not found

    return evaluate


def _all(parts: Sequence[Evaluate]) -> Evaluate:
    return _negation(_any([_negation(part) for part in parts]))


def _applied(function: Callable[..., Any], *parts: Evaluate) -> Evaluate:
    """``function`` of the parts, unknown where one of them is."""

    def evaluate(subject: Subject) -> Any:
        values = [part(subject) for part in parts]
        return None if any(value is None for value in values) else function(*values)

    return evaluate


class _Compiler:
    """Turns a tree into a function of the subject, and checks kinds on the way."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def compile(self, tree: ast.expr) -> tuple[Kind, Evaluate]:
        match tree:
            case ast.Constant(value=int() | float() as number):
                return "number", lambda _: float(number)
            case ast.Name():
                return self._word(tree)
            case ast.BoolOp():
                parts = [self._of_kind(part, "flag") for part in tree.values]
                return "flag", (_any if isinstance(tree.op, ast.Or) else _all)(parts)
            case ast.UnaryOp(op=ast.Not()):
                return "flag", _negation(self._of_kind(tree.operand, "flag"))
            case ast.UnaryOp(op=ast.USub()):
                return "number", _applied(operator.neg, self._of_kind(tree.operand, "number"))
            case ast.UnaryOp(op=ast.UAdd()):
                return "number", self._of_kind(tree.operand, "number")
            case ast.BinOp(op=ast.MatMult()):
                text, pattern = (self._of_kind(side, "text") for side in (tree.left, tree.right))
                return "flag", _applied(fnmatchcase, text, pattern)
            case ast.BinOp() if type(tree.op) in _ARITHMETIC:
                sides = [self._of_kind(side, "number") for side in (tree.left, tree.right)]
                return "number", _applied(_real(_ARITHMETIC[type(tree.op)]), *sides)
            case ast.Compare():
                return self._comparison(tree)
            case ast.Tuple() | ast.List():
                return self._list(tree)
            case ast.Call():
                return self._call(tree)
            case ast.Subscript():
                return self._part(tree)
            case ast.Attribute():
                return self._attribute(tree)
        raise ExpressionError(
            f"'{self._source.typed(tree)}' means nothing here", self._source.start(tree)
        )

    def _of_kind(self, tree: ast.expr, wanted: Kind) -> Evaluate:
        kind, evaluate = self.compile(tree)
        if kind != wanted:
            raise ExpressionError(
                f"{self._source.typed(tree)} is {_WHAT[kind]}; {_WHAT[wanted]} is needed here",
                self._source.start(tree),
            )
        return evaluate

    # words

    def _word(self, tree: ast.Name) -> tuple[Kind, Evaluate]:
        word = self._source.typed(tree)
        if word[0] in "\"'":
            return "text", lambda _: word[1:-1]
        if word == "undefined":
            return "flag", lambda subject: subject.gradient is None
        if word == "ratio":
            return "number", lambda subject: subject.ratio
        if word in FACTS:
            return FACTS[word].kind, lambda subject: subject.fact(word)
        if word in STATISTICS:
            statistic = STATISTICS[word]
            return statistic.kind, _applied(statistic.of, lambda subject: subject.gradient)
        if is_tensor(word):
            return "tensor", lambda subject: subject.tensor(word)
        path, _, last = word.rpartition(".")
        if is_tensor(path):
            return self._measured(lambda subject: subject.tensor(path), last, tree)
        raise self._unknown(word, self._source.start(tree))

    def _measured(self, tensor: Evaluate, word: str, tree: ast.expr) -> tuple[Kind, Evaluate]:
        column = self._source.end(tree) - len(word)
        if word == "undefined":
            return "flag", lambda subject: tensor(subject) is None
        if word not in STATISTICS:
            raise self._unknown(word, column)
        statistic = STATISTICS[word]
        return statistic.kind, _applied(statistic.of, tensor)

    def _unknown(self, word: str, column: int) -> ExpressionError:
        near = get_close_matches(word, WORDS, n=1)
        if near:
            hint = f"; did you mean {near[0]}?"
        else:
            hint = f": help expressions lists the words, and text stands in quotes: '{word}'"
        return ExpressionError(f"unknown word '{word}'{hint}", column)

    # forms

    def _comparison(self, tree: ast.Compare) -> tuple[Kind, Evaluate]:
        sides = [tree.left, *tree.comparators]
        compiled = [self.compile(side) for side in sides]
        links = []
        for comparison, left, right, place in zip(tree.ops, compiled, compiled[1:], sides[1:]):
            compare = _comparing(type(comparison), left[0], right[0])
            if compare is None:
                raise ExpressionError(
                    f"{_WHAT[left[0]]} cannot be compared so with {_WHAT[right[0]]}",
                    self._source.start(place),
                )
            links.append(_applied(compare, left[1], right[1]))
        return "flag", _all(links)

    def _list(self, tree: ast.Tuple | ast.List) -> tuple[Kind, Evaluate]:
        compiled = [self.compile(element) for element in tree.elts]
        kinds = {kind for kind, _ in compiled} or {"number"}
        if kinds not in ({"number"}, {"text"}):
            raise ExpressionError(
                "a list holds numbers only, or texts only", self._source.start(tree)
            )
        parts = [evaluate for _, evaluate in compiled]
        return "shape" if kinds == {"number"} else "texts", _applied(lambda *all_: all_, *parts)

    def _call(self, tree: ast.Call) -> tuple[Kind, Evaluate]:
        name = self._source.typed(tree.func)
        if name not in FUNCTIONS:
            near = get_close_matches(name, FUNCTIONS, n=1)
            known = f"did you mean {near[0]}?" if near else f"there are {', '.join(FUNCTIONS)}"
            raise ExpressionError(
                f"there is no function {name}; {known}", self._source.start(tree.func)
            )
        if len(tree.args) != 1 or tree.keywords:
            raise ExpressionError(f"{name} takes one number", self._source.start(tree.func))
        return "number", _applied(FUNCTIONS[name], self._of_kind(tree.args[0], "number"))

    def _attribute(self, tree: ast.Attribute) -> tuple[Kind, Evaluate]:
        tensor = self._of_kind(tree.value, "tensor")
        word = self._source.text[self._source.end(tree) - len(tree.attr) : self._source.end(tree)]
        return self._measured(tensor, word, tree)

    def _part(self, tree: ast.Subscript) -> tuple[Kind, Evaluate]:
        kind, evaluate = self.compile(tree.value)
        if kind not in ("tensor", "shape"):
            raise ExpressionError(
                f"{self._source.typed(tree.value)} is {_WHAT[kind]}, and has no parts",
                self._source.start(tree.slice),
            )
        index = tuple(self._index(each) for each in _elements(tree.slice))
        if kind == "tensor":
            return "tensor", _applied(lambda tensor: Value(tensor.array[index]), evaluate)
        (first, *others) = index
        if others or not isinstance(first, int):
            raise ExpressionError("one index, as in shape[0]", self._source.start(tree.slice))
        return "number", _applied(lambda shape: shape[first], evaluate)

    def _index(self, tree: ast.expr | None) -> int | slice | None:
        match tree:
            case None:
                return None
            case ast.Slice():
                return slice(*(self._index(each) for each in (tree.lower, tree.upper, tree.step)))
            case ast.Constant(value=int(number)):
                return number
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return -number
        raise ExpressionError(
            "an index is a whole number or a range, as in [0, 2:5]", self._source.start(tree)
        )


def _comparing(form: type[ast.cmpop], left: Kind, right: Kind) -> Callable[[Any, Any], bool] | None:
    """How values of these kinds are compared, None where they are not."""
    if form in _ORDER and left == right == "number":
        return _ORDER[form]
    if form in _EQUALITY and left == right and left in ("number", "text", "shape"):
        return _EQUALITY[form]
    listed = (("number", "shape"), ("text", "texts"), ("text", "text"))
    return _MEMBERSHIP.get(form) if (left, right) in listed else None


def _real(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], float]:
    def compute(left: float, right: float) -> float:
        found = function(left, right)
        if isinstance(found, complex):
            raise ArithmeticError("a negative number has no such power")
        return float(found)

    return compute
