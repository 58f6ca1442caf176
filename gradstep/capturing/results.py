"""The variables of the program that results of ops are assigned to: ``z`` of ``z = mu + noise``."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from gradstep.capturing.statement import tree_of
from gradstep.graph.model import Round, Source

ENOUGH_OPS: Final = 3
"""A variable that stands for several values in turn, as ``x`` does, names one of so many ops."""


class _Statement(NamedTuple):
    """Where an assignment begins, the variables that it sets, and whether these are set nowhere
    else in their function."""

    line: int
    names: str
    is_only: bool


def results_of(
    ops: Iterable[int],
    sources: Mapping[int, Source],
    rounds: Mapping[int, tuple[Round, ...]],
) -> dict[int, str]:
    """Return, of ``ops`` in the order in which they ran, those whose result a statement of the
    program assigned, with what it assigned it to."""
    results: dict[int, str] = {}
    known = [(id, source) for id in ops if (source := sources.get(id)) is not None]

    def ran(entry: tuple[int, Source]) -> tuple[_Statement | None, str, tuple[Round, ...]]:
        id, source = entry
        return _statements(source.file).get(source.line), source.file, rounds.get(id, ())

    for (statement, _, _), run in groupby(known, ran):
        if statement is not None:
            of_it = list(run)
            if statement.is_only or len(of_it) >= ENOUGH_OPS:
                results[of_it[-1][0]] = statement.names
    return results


@lru_cache(maxsize=64)
def _statements(file: str) -> Mapping[int, _Statement]:
    """Return the assignments of a file, by each of their lines."""
    found: dict[int, _Statement] = {}
    waiting: list[ast.AST] = [tree_of(file)]
    while waiting:
        function = waiting.pop()
        inside = list(_of_function(function))
        waiting += [node for node in inside if isinstance(node, _FUNCTIONS)]
        assigned = [(node, list(_targets(node))) for node in inside if isinstance(node, _ASSIGNS)]
        times = Counter(name for _, names in assigned for name in names)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            times.update(one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg))
        for node, names in assigned:
            if names:
                is_only = all(times[name] == 1 for name in names)
                statement = _Statement(node.lineno, ", ".join(names), is_only)
                for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                    found[line] = statement
    return found


_ASSIGNS: Final = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _of_function(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements of a function, and functions in it, but not what these have inside."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _FUNCTIONS):
            waiting += ast.iter_child_nodes(node)


def _targets(node: ast.stmt) -> Iterator[str]:
    """Yield the variables that an assignment sets; of one that sets an attribute or an element,
    none."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
    waiting = list(reversed(targets))
    while waiting:
        target = waiting.pop()
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, ast.Tuple | ast.List):
            waiting += reversed(target.elts)
        elif isinstance(target, ast.Starred):
            waiting.append(target.value)
