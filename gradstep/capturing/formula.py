"""A derivative rule with the names and numbers of one node put in.

``g * (exponent * x ** (exponent - 1))`` of ``a ** 3`` reads ``g · (3 · a²)``: the rule that
runs, with what it runs on.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final

from gradstep.graph.statistics import format_constant

Constant = int | float | bool | str | None
_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_ARITHMETIC: Final[Mapping[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def formula_text(rule: str, names: Mapping[str, str], constants: Mapping[str, Constant]) -> str:
    """Return ``rule`` with inputs called by ``names`` and attributes replaced by their values.

    >>> formula_text("g * (exponent * x ** (exponent - 1))", {"x": "a"}, {"exponent": 3})
    'g · (3 · a²)'
    >>> formula_text("where(x > 0, g, zeros_of(g))", {}, {})
    'where(x > 0, g, 0)'
    >>> formula_text("g if beta == 1 else g * beta", {}, {"beta": 1})
    'g'
    >>> formula_text("g / other", {}, {"other": 8**0.5})
    'g / ≈2.83'
    >>> formula_text("g * other", {}, {"other": 0.9999999})
    'g · 0.9999999'
    >>> formula_text("t(mm(t(g), mat1)) * alpha", {"mat1": "x"}, {"alpha": 2})
    'xᵀ @ g · 2'
    """
    return _formula_text(rule, tuple(sorted(names.items())), tuple(sorted(constants.items())))


@lru_cache(maxsize=4096)
def _formula_text(
    rule: str, names: tuple[tuple[str, str], ...], constants: tuple[tuple[str, Constant], ...]
) -> str:
    try:
        tree = ast.parse(rule, mode="eval")
    except SyntaxError:
        return rule
    placed = dict(names)
    stand_ins = {f"_{number}_": text for number, text in enumerate(placed.values())}
    tree = _Fill(dict(zip(placed, stand_ins, strict=True)), dict(constants)).visit(tree)
    text = _pretty(_LONG.sub(_rounded, ast.unparse(ast.fix_missing_locations(tree))))
    # names such as "layer.0.weight" are no identifiers, so they enter last
    return re.sub(r"_\d+_", lambda match: stand_ins.get(match[0], match[0]), text)


class _Fill(ast.NodeTransformer):
    def __init__(self, names: Mapping[str, str], constants: Mapping[str, Constant]) -> None:
        self._names = names
        self._constants = constants

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._constants:
            value = self._constants[node.id]
            if isinstance(value, float) and value.is_integer() and abs(value) < 1e6:
                value = int(value)
            return ast.Constant(value)
        return ast.Name(self._names.get(node.id, node.id))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="zeros_of")):
                return ast.Constant(0)
            case ast.Call(func=ast.Name(id="mm"), args=[left, right]):
                return ast.BinOp(left, ast.MatMult(), right)
            case ast.Call(func=ast.Name(id="t"), args=[matrix]):
                return _transposed(matrix)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        fold = _ARITHMETIC.get(type(node.op))
        a, b = _number(node.left), _number(node.right)
        if fold is not None and a is not None and b is not None:
            return ast.Constant(fold(a, b))
        if isinstance(node.op, ast.Pow) and b == 1:
            return node.left
        if isinstance(node.op, ast.Mult) and b == 1:
            return node.left
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        test = node.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            a, b = _constant(test.left), _constant(test.comparators[0])
            if a is not _UNKNOWN and b is not _UNKNOWN and isinstance(test.ops[0], ast.Eq | ast.Is):
                return node.body if a == b else node.orelse
        if isinstance(test, ast.Constant):
            return node.body if test.value else node.orelse
        return node


def _transposed(matrix: ast.expr) -> ast.expr:
    match matrix:
        case ast.BinOp(left=left, op=ast.MatMult(), right=right):
            return ast.BinOp(_transposed(right), ast.MatMult(), _transposed(left))
        case ast.Name(id=name):
            return ast.Name(name.removesuffix("ᵀ") if name.endswith("ᵀ") else f"{name}ᵀ")
    return ast.Call(ast.Name("t"), [matrix], [])


_UNKNOWN = object()


def _constant(node: ast.expr) -> object:
    return node.value if isinstance(node, ast.Constant) else _UNKNOWN


def _number(node: ast.expr) -> int | float | None:
    value = _constant(node)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


_LONG: Final = re.compile(r"\b\d+\.\d{6,}(?:e[-+]?\d+)?")


def _rounded(number: re.Match[str]) -> str:
    return format_constant(float(number[0]))


def _pretty(text: str) -> str:
    text = re.sub(r" \*\* (-?\d+)(?![\d.])", lambda m: m[1].translate(_SUPERSCRIPTS), text)
    text = text.replace(" * ", " · ").replace(" ** ", "^")
    return re.sub(r"-(?=[\w(. ])", "\N{MINUS SIGN}", text)
