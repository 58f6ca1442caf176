"""Statements and comparisons of the program, as they are written."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from contextlib import suppress
from linecache import getline, getlines
from typing import Final, NamedTuple

from gradstep.graph.model import Source
from gradstep.records import Tensor

LONGEST = 60
# fmt: off
_COMPARISONS: Final = {
    "lt": (ast.Lt, ast.Gt), "gt": (ast.Lt, ast.Gt), "le": (ast.LtE, ast.GtE),
    "ge": (ast.LtE, ast.GtE), "eq": (ast.Eq,), "ne": (ast.NotEq,),
}
"""Of an op, the signs that lead to it: Python may ask the right side first, and turns them."""


_OPERATORS: Final[dict[str, type[ast.operator]]] = {
    "div": ast.Div, "mul": ast.Mult, "pow": ast.Pow, "sub": ast.Sub, "add": ast.Add,
    "mm": ast.MatMult, "matmul": ast.MatMult, "bmm": ast.MatMult,
}
# fmt: on


class Operation(NamedTuple):
    """An op as a line has it: the columns from ``start`` to before ``end``, and what it is given,
    of a method what stands in front of it first; ``at`` is where its own name begins."""

    start: int
    end: int
    at: int
    operands: tuple[str, ...]


def operation_at(source: Source | None, op: str) -> Operation | None:
    """Return the one operation on a line that is the op ``op``; None where there is none, or
    several, or where it takes several lines."""
    line = "" if source is None else getline(source.file, source.line)
    if source is None or not line.isascii():
        return None
    operations = [
        (node, operands)
        for node in nodes_on(source)
        if (operands := operands_of(node, op)) is not None
    ]
    if len(operations) != 1:
        return None
    node, operands = operations[0]
    at = node.col_offset
    if isinstance(node, ast.Call) and operands and operands[0] not in node.args:
        at = operands[0].end_col_offset or 0  # of a method, its name
    return Operation(
        node.col_offset, node.end_col_offset or 0, at, tuple(map(ast.unparse, operands))
    )


def nodes_on(source: Source) -> Iterator[ast.expr]:
    """Yield the expressions that stand on a line as a whole, outer ones first."""
    for node in ast.walk(tree_of(source.file)):
        if isinstance(node, ast.expr) and node.lineno == node.end_lineno == source.line:
            yield node


def operands_of(node: ast.AST, op: str) -> list[ast.expr] | None:
    """Return what an expression gives the op ``op``, of a method what stands in front of it first;
    None where it is another one."""
    match node:
        case ast.BinOp(left=left, right=right, op=sign) if isinstance(sign, _OPERATORS.get(op, ())):
            return [left, right]
        case ast.Call(func=ast.Name(id=name), args=args) if name == op:
            return args
        case ast.Call(func=ast.Attribute(attr=name, value=value), args=args) if name == op:
            return args if ast.unparse(value) in _LIBRARIES else [value, *args]
    return None


def given_at(source: Source | None, modules: Container[str], op: str, place: int) -> str:
    """Return how a line writes what it gives to the one of ``modules`` that it calls, or else to
    the op ``op`` at a place; "" where that is unknown, or long."""
    written: ast.expr | str = ""
    for node in () if source is None else nodes_on(source):
        match node:
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[given, *_]):
                written = given if name in modules else written
    if not written and (operation := operation_at(source, op)) is not None:
        written = "".join(operation.operands[place : place + 1])
        written = ast.parse(written, mode="eval").body if written else ""
    match written:
        case ast.Call(func=ast.Attribute(value=value, attr="detach")):
            text = f"{ast.unparse(value)} (detached)"
        case ast.expr():
            text = ast.unparse(written)
        case _:
            text = ""
    text = text.removeprefix("self.")
    return text if len(text) <= LONGEST_GIVEN and "..." not in text else ""


LONGEST_GIVEN: Final = 32


_LIBRARIES: Final = (
    "torch", "F", "nn", "nn.functional", "torch.nn.functional", "torch.special", "torch.linalg",
    "torch.distributions",
)  # fmt: skip


def tree_of(file: str) -> ast.Module:
    """Return the syntax tree of a file, an empty one where it cannot be read."""
    lines = getlines(file)
    known = _trees.get(file)
    if known is None or known[0] is not lines:  # it has other lines now, as in a notebook
        _trees.pop(file, None)
        while len(_trees) >= _MOST_TREES:
            del _trees[next(iter(_trees))]
        known = _trees[file] = lines, _parsed(lines)
    return known[1]


def _parsed(lines: list[str]) -> ast.Module:
    try:
        return ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])


_trees: Final[dict[str, tuple[list[str], ast.Module]]] = {}
_MOST_TREES: Final = 16


class Comparison(NamedTuple):
    """A comparison as it is written, and what could stand for it where a gradient is wanted."""

    text: str
    smooth: str


def comparison_at(source: Source | None, op: str) -> Comparison | None:
    """Return the one comparison on a line that is the op ``op``; None where there is none, or
    several."""
    if source is None or op not in _COMPARISONS:
        return None
    text = "".join(getlines(source.file))
    compared = [
        node
        for node in ast.walk(tree_of(source.file))
        if isinstance(node, ast.Compare)
        and node.lineno <= source.line <= (node.end_lineno or 0)
        and len(node.ops) == 1
        and isinstance(node.ops[0], _COMPARISONS[op])
    ]
    if len(compared) != 1:
        return None
    node = compared[0]
    written = ast.get_source_segment(text, node) or ""
    written = " ".join(written.split())
    if not 0 < len(written) <= LONGEST:
        return None
    if isinstance(node.ops[0], ast.Eq | ast.NotEq):
        return Comparison(written, "use a smooth function of the difference of the two")
    greater = isinstance(node.ops[0], ast.Gt | ast.GtE)
    large, small = [ast.unparse(side) for side in (node.left, node.comparators[0])][
        :: 1 if greater else -1
    ]
    if isinstance(node.comparators[0] if greater else node.left, ast.BinOp):
        small = f"({small})"
    return Comparison(written, f"use sigmoid(({large} - {small}) / t), with a small t")


def statement_of(tensor: Tensor, name: str) -> str:
    """Return the assignment that gave ``tensor`` its ``name``, as it is written: ``y = a * b + c``;
    "" where that was not traced, stands elsewhere than the last op, or takes more than one short
    line.
    """
    origin = tensor.record
    if not (isinstance(origin, tuple) and origin[0].source):
        return ""
    line = getline(origin[0].source.file, origin[0].source.line).strip()
    if len(line) <= LONGEST:
        with suppress(SyntaxError):
            for node in ast.parse(line).body:
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
                    return ast.get_source_segment(line, node) or ""
    return ""
