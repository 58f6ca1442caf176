"""Statements and comparisons of the program, as they are written."""

from __future__ import annotations

import ast
from contextlib import suppress
from linecache import getline, getlines
from typing import Final, NamedTuple

from gradstep.graph.model import Source
from gradstep.records import Tensor

LONGEST = 60
_COMPARISONS: Final = {
    "lt": (ast.Lt, ast.Gt), "gt": (ast.Lt, ast.Gt), "le": (ast.LtE, ast.GtE),
    "ge": (ast.LtE, ast.GtE), "eq": (ast.Eq,), "ne": (ast.NotEq,),
}  # fmt: skip
"""Of an op, the signs that lead to it: Python may ask the right side first, and turns them."""


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
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return None
    compared = [
        node
        for node in nodes
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
    large, small = [ast.unparse(each) for each in (node.left, node.comparators[0])][
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
