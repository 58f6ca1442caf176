"""The line of the program that made a result, as a title for its picture."""

from __future__ import annotations

import ast
from contextlib import suppress
from linecache import getline

from gradstep.records import Tensor

LONGEST = 60


def statement_of(tensor: Tensor, name: str) -> str:
    """Return the assignment that gave ``tensor`` its ``name``, as it is written: ``y = a * b + c``;
    "" where that was not traced, stands elsewhere than the last op, or takes more than one short
    line.
    """
    found = tensor.record
    if not (isinstance(found, tuple) and found[0].source):
        return ""
    line = getline(found[0].source.file, found[0].source.line).strip()
    if len(line) <= LONGEST:
        with suppress(SyntaxError):
            for node in ast.parse(line).body:
                if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
                    return ast.get_source_segment(line, node) or ""
    return ""
