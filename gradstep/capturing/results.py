"""The variables of the program that results of ops are assigned to: ``z`` of ``z = mu + noise``,
and those that hold them: ``u_t`` of ``u_t = derivative(u, t)``, where the op ran elsewhere; and how
it writes what has no variable."""

from __future__ import annotations

import ast
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import groupby, takewhile
from typing import Final, NamedTuple

from gradstep.capturing.names import Names
from gradstep.capturing.statement import given_at, tree_of
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import Round, Source
from gradstep.records import Node, Tensor, resolve


def _given_expressions(build: GraphBuilder, modules: set[str]) -> dict[int, str]:
    """Return how the program writes the constants that no variable holds, where an op or a module
    is given nothing else: ``fake.detach()`` of ``discriminator(fake.detach())``."""
    nameless = {
        id
        for id, kind in enumerate(build.kinds)
        if kind == "constant" and id not in build.variables and build.shapes[id]
    }
    if not nameless:
        return {}
    ends = list(zip(build.edge_kinds, build.edge_sources, build.edge_targets,
                    build.edge_input_nrs, strict=True))  # fmt: skip
    read: dict[int, list[tuple[int, int]]] = {}
    for kind, source, target, place in ends:
        if kind == "value" and source in nameless:
            read.setdefault(target, []).append((source, place))
    makers = {source for kind, source, target, _ in ends if kind == "value" and target in read}
    others: dict[int, set[int]] = {}
    for kind, source, target, _ in ends:
        if kind == "value" and (target in read or target in makers) and source not in nameless:
            others.setdefault(target, set()).add(source)

    def is_weight(id: int) -> bool:  # or one that is transposed
        made = others.get(id, ())
        return build.kinds[id] == "parameter" or (
            bool(made) and all(build.kinds[one] == "parameter" for one in made)
        )

    @cache  # a loop comes to the same line again and again
    def written(source: Source | None, scope: str, op: str, place: int) -> str:
        return given_at(source, modules.union(scope.split(".")), op, place)

    known: dict[int, str] = {}
    for op, ((id, place), *more) in read.items():
        if not more and id not in known and all(map(is_weight, others.get(op, ()))):
            text = written(build.sources.get(op), build.scopes[op], build.names[op], place)
            if text:
                known[id] = text
    return known


class _Statement(NamedTuple):
    """Where an assignment begins, the variables that it sets, what it calls for their value, if it
    does, what it calls for what it gives to that, and whether it is outside of functions."""

    line: int
    names: str
    maker: str = ""
    others: frozenset[str] = frozenset()
    is_global: bool = False


def add_results(
    build: GraphBuilder,
    names: Names,
    roots: Iterable[Tensor],
    nodes: Iterable[Node],
    forward_of: Callable[[Node], int | None],
) -> None:
    """Enter the names of results: what a variable holds, but for the last round of a loop, and
    what a statement assigns."""
    held = _held_results(names, nodes, forward_of)
    ops = (id for id, half in enumerate(build.halves) if half == "forward")
    build.results = {id: name for id, name in held.items() if id not in build.rounds}
    assigned = _assigned_results(ops, build.sources, build.rounds, build.scopes, names.constants())
    build.results |= assigned
    build.results |= _given_expressions(build, {*names.modules})
    for root in roots:  # of a statement that has it drawn, the result is a picture
        maker, _ = resolve(root.edge)
        if maker is not None and not names.of(root) and (id := forward_of(maker)) is not None:
            build.results.pop(id, None)


def _held_results(
    names: Names, nodes: Iterable[Node], forward_of: Callable[[Node], int | None]
) -> dict[int, str]:
    """Return the ops of ``nodes`` whose result a variable holds, with its name; of several results,
    with the names of all."""
    held = names.of_results()
    results: dict[int, str] = {}
    for node in nodes if held else ():
        name = held.get(id(getattr(node, "origin", node)))
        if name is not None and (op := forward_of(node)) is not None:
            results[op] = name
    return results


def _assigned_results(
    ops: Iterable[int],
    sources: Mapping[int, Source],
    rounds: Mapping[int, tuple[Round, ...]],
    scopes: Sequence[str],
    constants: Collection[str],
) -> dict[int, str]:
    """Return, of ``ops`` in the order in which they ran, those whose result a statement of the
    program assigned, with what it assigned it to; but for variables that hold ``constants``."""
    results: dict[int, str] = {}
    latest: dict[object, int] = {}
    known = [(id, source) for id in ops if (source := sources.get(id)) is not None]

    def ran(entry: tuple[int, Source]) -> tuple[_Statement | None, str, tuple[Round, ...]]:
        id, source = entry
        return _statements(source.file).get(source.line), source.file, rounds.get(id, ())

    behind = 0
    for key, run in groupby(known, ran):
        of_run = [id for id, _ in run]
        behind += len(of_run)
        if (statement := key[0]) is not None:
            if statement.is_global and statement.names in constants:
                continue
            before = latest.get(key)
            if before is not None and _are_beside(scopes[before], scopes[of_run[0]]):
                results.pop(before, None)  # what ran in between was called there
            after = (known[at][0] for at in range(behind, len(known)))
            made = _made(statement, scopes, of_run[-1], after)
            latest[key] = of_run[-1] if made is None else made
            if made is not None:
                results[made] = statement.names
    return results


def _made(
    statement: _Statement, scopes: Sequence[str], last: int, after: Iterable[int]
) -> int | None:
    """Return the op that made the value of a statement, of whose own line ``last`` is the last: the
    last one of the module that it calls, where ``last`` is of another one; None if unknown."""
    parts = scopes[last].split(".")
    own = next((at for at, part in enumerate(parts) if part in statement.others), -1)
    if own < 0 or not statement.maker or statement.maker in parts:
        return last
    module = ".".join([*parts[:own], statement.maker])
    inside = takewhile(lambda id: f"{scopes[id]}.".startswith(f"{module}."), after)
    return next(iter(deque(inside, maxlen=1)), None)


def _are_beside(one: str, other: str) -> bool:
    """Tell whether two scopes are parts of one module, or one is that module."""
    around, beside = one.rpartition(".")[0], other.rpartition(".")[0]
    return one in (other, beside) or around in (other, beside)


@lru_cache(maxsize=64)
def _statements(file: str) -> Mapping[int, _Statement]:
    """Return the assignments of a file, by each of their lines; but for those of a variable that
    stands for several values in turn, as ``x`` often does, and lines of several statements."""
    found: dict[int, _Statement] = {}
    waiting: list[ast.AST] = [tree_of(file)]
    while waiting:
        function = waiting.pop()
        inside = list(_of_function(function))
        waiting += [node for node in inside if isinstance(node, _FUNCTIONS)]
        found.update(_statements_of(function, inside))
    return found


def _statements_of(
    function: ast.AST, inside: Sequence[ast.AST]
) -> Iterator[tuple[int, _Statement]]:
    """Yield the assignments of one function, or of the file outside of functions."""
    assigned = [(node, list(_targets(node))) for node in inside if isinstance(node, _ASSIGNS)]
    times = Counter(name for _, names in assigned for name in names)
    if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        times.update(one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg))
    taken = Counter(
        line
        for node in inside
        if isinstance(node, ast.stmt) and not hasattr(node, "body")
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )
    for node, names in assigned:
        holds_several = len(names) == 1 and isinstance(node.value, _DISPLAYS)
        if names and not holds_several and all(times[name] == 1 for name in names):
            is_global = isinstance(function, ast.Module)
            statement = _Statement(node.lineno, ", ".join(names), *_called(node), is_global)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                if taken[line] == 1:
                    yield line, statement


def _called(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> tuple[str, frozenset[str]]:
    """Return what an assignment calls for its value, "" where it does more than that, and what it
    calls besides."""
    value = node.value if not isinstance(node, ast.AugAssign) else None
    while isinstance(value, ast.Subscript):
        value = value.value
    names = {
        call: call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute | ast.Name)
    }
    maker = names.pop(value, "") if isinstance(value, ast.Call) else ""
    return maker, frozenset(names.values())


_DISPLAYS: Final = (
    ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp,
    ast.GeneratorExp,
)  # fmt: skip
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
    """Yield the variables that an assignment sets, but for ``_``, and attributes of ``self``; of
    one that sets another attribute or an element, none."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]  # type: ignore[attr-defined]
    waiting = list(reversed(targets))
    while waiting:
        target = waiting.pop()
        if isinstance(target, ast.Name):
            if target.id != "_":
                yield target.id
        elif isinstance(target, ast.Attribute):
            if isinstance(target.value, ast.Name) and target.value.id == "self":
                yield target.attr
        elif isinstance(target, ast.Tuple | ast.List):
            waiting += reversed(target.elts)
        elif isinstance(target, ast.Starred):
            waiting.append(target.value)
