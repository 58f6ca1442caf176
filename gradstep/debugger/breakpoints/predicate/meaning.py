"""The meaning of an expression: its syntax tree, interpreted over the listed vocabulary."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from functools import partial
from typing import Final

import numpy as np

from gradstep.debugger.breakpoints.predicate.arrays import (
    BY_ELEMENT,
    REDUCING,
    chosen,
    elementwise,
    every,
    part,
    reduced,
    some,
)
from gradstep.debugger.breakpoints.predicate.logic import (
    ARITHMETIC,
    BY_COMPARISON,
    Evaluate,
    all_of,
    any_of,
    applied,
    comparing,
    negation,
    real,
)
from gradstep.debugger.breakpoints.predicate.source import ExpressionText
from gradstep.debugger.breakpoints.predicate.vocabulary import (
    FACTS,
    FUNCTIONS,
    STATISTICS,
    WORDS,
    Kind,
    is_tensor,
)
from gradstep.debugger.errors import ExpressionError
from gradstep.text import did_you_mean, which_tensor

WHAT: Final[dict[Kind, str]] = {
    "flag": "true or false",
    "number": "a number",
    "text": "a text",
    "shape": "a list of numbers",
    "texts": "a list of texts",
    "tensor": "a tensor",
    "mask": "true or false for each element",
}


def elements(tree: ast.expr) -> list[ast.expr]:
    """Return the elements of a list, or the one thing that is no list."""
    return tree.elts if isinstance(tree, ast.Tuple | ast.List) else [tree]


class Compiler:
    """Turns a tree into a function of the subject, and checks kinds on the way."""

    def __init__(
        self,
        source: ExpressionText,
        named: Callable[[str], bool] | None = None,
        names: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """``named`` says whether a word is the name of a tensor of the program, ``names`` lists
        those of leaves."""
        self._source = source
        self._named = named or (lambda word: False)
        self._names = names

    def compile(self, tree: ast.expr) -> tuple[Kind, Evaluate]:
        match tree:
            case ast.Constant(value=int() | float() as number):
                return "number", lambda _: float(number)
            case ast.Name():
                return self._word(tree)
            case ast.BoolOp():
                return self._junction(tree)
            case ast.UnaryOp():
                return self._unary(tree)
            case ast.BinOp(op=ast.MatMult()):
                text, pattern = (self._of_kind(side, "text") for side in (tree.left, tree.right))
                return "flag", applied(fnmatchcase, text, pattern)
            case ast.BinOp() if type(tree.op) in ARITHMETIC:
                return self._arithmetic(tree)
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

    def _junction(self, tree: ast.BoolOp) -> tuple[Kind, Evaluate]:
        by_or = isinstance(tree.op, ast.Or)
        compiled = [self.compile(part) for part in tree.values]
        kind: Kind = "mask" if any(kind == "mask" for kind, _ in compiled) else "flag"
        parts = [
            self._required(term, part, kind)
            for term, part in zip(compiled, tree.values, strict=True)
        ]
        if kind == "mask":
            function = np.logical_or if by_or else np.logical_and
            return kind, applied(elementwise(lambda *all_: function.reduce(all_)), *parts)
        return kind, (any_of if by_or else all_of)(parts)

    def _unary(self, tree: ast.UnaryOp) -> tuple[Kind, Evaluate]:
        compiled = kind, evaluate = self.compile(tree.operand)
        if isinstance(tree.op, ast.Not):
            if kind == "mask":
                return kind, applied(elementwise(np.logical_not), evaluate)
            return "flag", negation(self._required(compiled, tree.operand, "flag"))
        if kind != "tensor":
            self._required(compiled, tree.operand, "number")
        if isinstance(tree.op, ast.UAdd):
            return compiled
        negative = elementwise(np.negative) if kind == "tensor" else operator.neg
        return kind, applied(negative, evaluate)

    def _arithmetic(self, tree: ast.BinOp) -> tuple[Kind, Evaluate]:
        function = ARITHMETIC[type(tree.op)]
        sides = [(self.compile(side), side) for side in (tree.left, tree.right)]
        parts = [
            meaning[1] if meaning[0] == "tensor" else self._required(meaning, side, "number")
            for meaning, side in sides
        ]
        if any(meaning[0] == "tensor" for meaning, _ in sides):
            return "tensor", applied(elementwise(function), *parts)
        return "number", applied(real(function), *parts)

    def _of_kind(self, tree: ast.expr, wanted: Kind) -> Evaluate:
        return self._required(self.compile(tree), tree, wanted)

    def _required(self, compiled: tuple[Kind, Evaluate], tree: ast.expr, wanted: Kind) -> Evaluate:
        kind, evaluate = compiled
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
        if self._named(word):
            return "tensor", lambda subject: subject.tensor(word)
        if is_tensor(path) or self._named(path):
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
        if tensors := which_tensor(word, self._names()):
            return ExpressionError(f"no tensor here is called '{word}'; {tensors}", column)
        listed = f"help expressions lists the words, and text goes in quotes: '{word}'"
        hint = did_you_mean(word, WORDS, otherwise=listed)
        separator = ":" if hint is listed else ";"
        return ExpressionError(f"unknown word '{word}'{separator} {hint}", column)

    # forms

    def _comparison(self, tree: ast.Compare) -> tuple[Kind, Evaluate]:
        sides = [tree.left, *tree.comparators]
        compiled = [self.compile(side) for side in sides]
        links = []
        if any(kind == "tensor" for kind, _ in compiled):
            return self._by_element(tree, compiled, sides)
        for comparison, left, right, place in zip(tree.ops, compiled, compiled[1:], sides[1:]):
            compare = comparing(type(comparison), left[0], right[0])
            if compare is None:
                raise ExpressionError(
                    f"{WHAT[left[0]]} cannot be compared so with {WHAT[right[0]]}",
                    self._source.start(place),
                )
            links.append(applied(compare, left[1], right[1]))
        return "flag", all_of(links)

    def _by_element(
        self, tree: ast.Compare, compiled: list[tuple[Kind, Evaluate]], sides: list[ast.expr]
    ) -> tuple[Kind, Evaluate]:
        for (kind, _), side in zip(compiled, sides, strict=True):
            if kind not in ("tensor", "number"):
                raise ExpressionError(
                    f"{WHAT[kind]} cannot be compared with a tensor in this way",
                    self._source.start(side),
                )
        links = []
        for comparison, left, right in zip(tree.ops, compiled, compiled[1:]):
            function = BY_COMPARISON.get(type(comparison))
            if function is None:
                raise ExpressionError(
                    "tensors do not support this comparison", self._source.start(tree)
                )
            links.append(applied(elementwise(function), left[1], right[1]))
        return "mask", applied(elementwise(lambda *all_: np.logical_and.reduce(all_)), *links)

    def _list(self, tree: ast.Tuple | ast.List) -> tuple[Kind, Evaluate]:
        compiled = [self.compile(element) for element in tree.elts]
        kinds = {kind for kind, _ in compiled} or {"number"}
        if kinds not in ({"number"}, {"text"}):
            raise ExpressionError(
                "a list holds only numbers or only text", self._source.start(tree)
            )
        parts = [evaluate for _, evaluate in compiled]
        return "shape" if kinds == {"number"} else "texts", applied(lambda *all_: all_, *parts)

    def _call(self, tree: ast.Call) -> tuple[Kind, Evaluate]:
        name = self._source.typed(tree.func)
        if name in (*FUNCTIONS, *BY_ELEMENT, *REDUCING, "any", "all"):
            return self._applied_to_one(name, tree)
        known = dict.fromkeys((*FUNCTIONS, *BY_ELEMENT, *REDUCING, "any", "all"))
        hint = did_you_mean(name, known, otherwise=f"there are {', '.join(known)}")
        raise ExpressionError(f"there is no function {name}; {hint}", self._source.start(tree.func))

    def _applied_to_one(self, name: str, tree: ast.Call) -> tuple[Kind, Evaluate]:
        if len(tree.args) != 1 or tree.keywords:
            one = "number" if name in FUNCTIONS else "tensor"
            raise ExpressionError(f"{name} takes one {one}", self._source.start(tree.func))
        (argument,) = tree.args
        compiled = kind, evaluate = self.compile(argument)
        if kind == "tensor" and name in BY_ELEMENT:
            result_kind: Kind = "mask" if name.startswith("is") else "tensor"
            return result_kind, applied(elementwise(BY_ELEMENT[name]), evaluate)
        if name in FUNCTIONS:
            return "number", applied(FUNCTIONS[name], self._required(compiled, argument, "number"))
        if name in ("any", "all"):
            truth = some if name == "any" else every
            return "flag", applied(truth, self._required(compiled, argument, "mask"))
        tensor = self._required(compiled, argument, "tensor")
        return "number", applied(reduced(REDUCING[name]), tensor)

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
        if kind == "tensor" and isinstance(tree.slice, ast.Compare | ast.Call | ast.UnaryOp):
            selection, mask = self.compile(tree.slice)
            if selection == "mask":
                return "tensor", applied(chosen, evaluate, mask)
        index = tuple(self._index(element) for element in elements(tree.slice))
        if kind == "tensor":
            return "tensor", applied(partial(part, index, self._source.typed(tree.slice)), evaluate)
        (first, *others) = index
        if others or not isinstance(first, int):
            raise ExpressionError("one index, as in shape[0]", self._source.start(tree.slice))
        return "number", applied(lambda shape: shape[first], evaluate)

    def _index(self, tree: ast.expr | None) -> int | slice | None:
        match tree:
            case None:
                return None
            case ast.Slice():
                return slice(*(self._index(bound) for bound in (tree.lower, tree.upper, tree.step)))
            case ast.Constant(value=int(number)):
                return number
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return -number
        raise ExpressionError(
            "an index is an integer or a range, as in [0, 2:5]", self._source.start(tree)
        )
