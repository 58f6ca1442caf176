"""The meaning of an expression: its syntax tree, interpreted over the listed vocabulary."""

from __future__ import annotations

import ast
import operator
from fnmatch import fnmatchcase
from typing import Final

from autograd_core.debug.breakpoints.predicate.logic import (
    ARITHMETIC,
    Evaluate,
    all_of,
    any_of,
    applied,
    comparing,
    negation,
    real,
)
from autograd_core.debug.breakpoints.predicate.source import Source
from autograd_core.debug.breakpoints.predicate.vocabulary import (
    FACTS,
    FUNCTIONS,
    STATISTICS,
    WORDS,
    Kind,
    is_tensor,
)
from autograd_core.debug.errors import ExpressionError
from autograd_core.debug.snapshot import Value
from autograd_core.text import did_you_mean

WHAT: Final[dict[Kind, str]] = {
    "flag": "true or false",
    "number": "a number",
    "text": "a text",
    "shape": "a list of numbers",
    "texts": "a list of texts",
    "tensor": "a tensor",
}


def elements(tree: ast.expr) -> list[ast.expr]:
    """The elements of a list, or the one thing that is no list."""
    return tree.elts if isinstance(tree, ast.Tuple | ast.List) else [tree]


class Compiler:
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
                return "flag", (any_of if isinstance(tree.op, ast.Or) else all_of)(parts)
            case ast.UnaryOp(op=ast.Not()):
                return "flag", negation(self._of_kind(tree.operand, "flag"))
            case ast.UnaryOp(op=ast.USub()):
                return "number", applied(operator.neg, self._of_kind(tree.operand, "number"))
            case ast.UnaryOp(op=ast.UAdd()):
                return "number", self._of_kind(tree.operand, "number")
            case ast.BinOp(op=ast.MatMult()):
                text, pattern = (self._of_kind(side, "text") for side in (tree.left, tree.right))
                return "flag", applied(fnmatchcase, text, pattern)
            case ast.BinOp() if type(tree.op) in ARITHMETIC:
                sides = [self._of_kind(side, "number") for side in (tree.left, tree.right)]
                return "number", applied(real(ARITHMETIC[type(tree.op)]), *sides)
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
                f"{self._source.typed(tree)} is {WHAT[kind]}; {WHAT[wanted]} is needed here",
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
            return statistic.kind, applied(statistic.of, lambda subject: subject.gradient)
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
        return statistic.kind, applied(statistic.of, tensor)

    def _unknown(self, word: str, column: int) -> ExpressionError:
        listed = f"help expressions lists the words, and text stands in quotes: '{word}'"
        hint = did_you_mean(word, WORDS, otherwise=listed)
        separator = ":" if hint is listed else ";"
        return ExpressionError(f"unknown word '{word}'{separator} {hint}", column)

    # forms

    def _comparison(self, tree: ast.Compare) -> tuple[Kind, Evaluate]:
        sides = [tree.left, *tree.comparators]
        compiled = [self.compile(side) for side in sides]
        links = []
        for comparison, left, right, place in zip(tree.ops, compiled, compiled[1:], sides[1:]):
            compare = comparing(type(comparison), left[0], right[0])
            if compare is None:
                raise ExpressionError(
                    f"{WHAT[left[0]]} cannot be compared so with {WHAT[right[0]]}",
                    self._source.start(place),
                )
            links.append(applied(compare, left[1], right[1]))
        return "flag", all_of(links)

    def _list(self, tree: ast.Tuple | ast.List) -> tuple[Kind, Evaluate]:
        compiled = [self.compile(element) for element in tree.elts]
        kinds = {kind for kind, _ in compiled} or {"number"}
        if kinds not in ({"number"}, {"text"}):
            raise ExpressionError(
                "a list holds numbers only, or texts only", self._source.start(tree)
            )
        parts = [evaluate for _, evaluate in compiled]
        return "shape" if kinds == {"number"} else "texts", applied(lambda *all_: all_, *parts)

    def _call(self, tree: ast.Call) -> tuple[Kind, Evaluate]:
        name = self._source.typed(tree.func)
        if name not in FUNCTIONS:
            hint = did_you_mean(name, FUNCTIONS, otherwise=f"there are {', '.join(FUNCTIONS)}")
            raise ExpressionError(
                f"there is no function {name}; {hint}", self._source.start(tree.func)
            )
        if len(tree.args) != 1 or tree.keywords:
            raise ExpressionError(f"{name} takes one number", self._source.start(tree.func))
        return "number", applied(FUNCTIONS[name], self._of_kind(tree.args[0], "number"))

    def _attribute(self, tree: ast.Attribute) -> tuple[Kind, Evaluate]:
        tensor = self._of_kind(tree.value, "tensor")
        word = self._source.text[self._source.end(tree) - len(tree.attr) : self._source.end(tree)]
        return self._measured(tensor, word, tree)

    def _part(self, tree: ast.Subscript) -> tuple[Kind, Evaluate]:
        kind, evaluate = self.compile(tree.value)
        if kind not in ("tensor", "shape"):
            raise ExpressionError(
                f"{self._source.typed(tree.value)} is {WHAT[kind]}, and has no parts",
                self._source.start(tree.slice),
            )
        index = tuple(self._index(each) for each in elements(tree.slice))
        if kind == "tensor":
            return "tensor", applied(lambda tensor: Value(tensor.array[index]), evaluate)
        (first, *others) = index
        if others or not isinstance(first, int):
            raise ExpressionError("one index, as in shape[0]", self._source.start(tree.slice))
        return "number", applied(lambda shape: shape[first], evaluate)

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
