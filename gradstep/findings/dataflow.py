"""Values that a program computes, or is given, and never reads, as its text tells."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

Kind = Literal["assigned", "unpacked", "looped", "given"]
Function = ast.FunctionDef | ast.AsyncFunctionDef
Names = frozenset[str]
_OPAQUE: Final = ("locals", "vars", "eval", "exec", "globals", "dir")
"""Functions that may read any variable."""


class Unread(NamedTuple):
    """A value that nobody reads.

    Attributes:
        name: of the variable that holds it, and how that got it: it was ``assigned``, ``unpacked``
            from several values, is a variable of a loop, or was ``given`` as an argument.
        line: where.
        value: what is assigned, or unpacked; None for an argument.
        again: the line of the next assignment, before which nobody reads it; 0 without one.
        place: which of the values it is that are unpacked.
        others: the names that are unpacked with it, and read.
    """

    name: str
    kind: Kind
    line: int
    value: ast.expr | None = None
    again: int = 0
    place: int = 0
    others: tuple[str, ...] = ()


def unread_in(function: Function) -> Iterator[Unread]:
    """Yield what a function is given, or computes, and reads on no path through it."""
    flow = _Flow(function.body)
    if flow.is_opaque:
        return
    needed = flow.run() | flow.always
    given = function.args
    for each in (*given.posonlyargs, *given.args, *given.kwonlyargs):
        if each.arg not in needed:
            again = flow.assigned.get(each.arg, 0)
            yield Unread(each.arg, "given", each.lineno, None, again)
    yield from flow.found


def unread_at_top(tree: ast.Module) -> Iterator[Unread]:
    """Yield what a script computes outside of functions and never reads."""
    flow = _Flow(tree.body)
    if not flow.is_opaque:
        flow.run()
        yield from flow.found


class Overwritten(NamedTuple):
    """A variable that each round of a loop assigns anew, that no round reads, and that is read
    behind the loop; it ``began`` as a sum does, or the round calls what the loop goes through."""

    name: str
    line: int
    loop: int
    began: int


def overwritten_in(body: Sequence[ast.stmt]) -> Iterator[Overwritten]:
    """Yield what the loops of a block, and those in it, overwrite in each round."""
    for at, loop in enumerate(body):
        inner = [] if isinstance(loop, Function | ast.ClassDef) else ast.iter_fields(loop)
        for _, value in inner:
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield from overwritten_in(value)
        if not isinstance(loop, ast.For) or any(
            isinstance(part, ast.Break | ast.Return) for part in ast.walk(loop)
        ):
            continue
        read = set().union(*map(_read, loop.body))
        later = set().union(*map(_read, body[at + 1 :])) if body[at + 1 :] else set()
        begun = {name: line for each in body[:at] for name, line in _sums(each)}
        varying = _stored(loop.target)
        for statement in loop.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    calls_it = isinstance(value, ast.Call) and _is_one_of(value.func, varying)
                    is_lost = name in later - read and (name in begun or calls_it)
                    if is_lost and _read(value) & (varying | _assigned(loop.body)):
                        yield Overwritten(name, statement.lineno, loop.lineno, begun.get(name, 0))


def ended_in(tree: ast.AST) -> Iterator[tuple[ast.For, ast.stmt]]:
    """Yield loops that sum something up, or train, and whose first round always ends them, with
    the statement that does."""
    for node in ast.walk(tree):
        match node:
            case ast.For(body=[*_, ast.Return() | ast.Break() as end]):
                parts = [part for each in node.body for part in ast.walk(each)]
                goes_on = any(isinstance(part, ast.Continue) for part in parts)
                if not goes_on and any(map(_is_of_several, parts)):
                    yield node, end


def _is_of_several(node: ast.AST) -> bool:
    """Return whether a statement makes sense in several rounds only."""
    match node:
        case ast.AugAssign(op=ast.Add()):
            return True
        case ast.Call(func=ast.Attribute(attr="append" | "backward" | "extend" | "step")):
            return True
    return False


def _sums(statement: ast.stmt) -> Iterator[tuple[str, int]]:
    """Yield the variables that a statement sets to 0, as where a sum begins."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=0 | 0.0)):
            yield name, statement.lineno
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Name(id="zeros") | ast.Attribute(attr="zeros" | "zeros_like")),
        ):
            yield name, statement.lineno


def _is_one_of(function: ast.expr, names: set[str]) -> bool:
    return isinstance(function, ast.Name) and function.id in names


def _assigned(body: Sequence[ast.stmt]) -> set[str]:
    return set().union(*map(_stored, body))


class _Flow:
    """Goes backward through statements, with the names that are read later.

    Attributes:
        always: names that may be read at any time.
        assigned: the first line that assigns to a name.
    """

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        self.found: list[Unread] = []
        self.always: set[str] = set()
        self.assigned: dict[str, int] = {}
        self.is_opaque = False
        self._body = body
        self._reports = True
        self._loops: list[tuple[Names, Names]] = []  # what is read behind each, and in the next
        self._next: dict[str, int] = {}
        self._look_through()

    def _look_through(self) -> None:
        stack: list[ast.AST] = [*self._body]
        while stack:
            node = stack.pop()
            match node:
                case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                    names = [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
                    self.always.update(names)
                    continue
                case ast.Global(names=names) | ast.Nonlocal(names=names):
                    self.always.update(names)
                case ast.Name(id=name, ctx=ast.Load()):
                    self.is_opaque |= name in _OPAQUE
                case ast.Name(id=name, lineno=line):
                    self.assigned[name] = min(line, self.assigned.get(name, line))
                case ast.Try(handlers=handlers, finalbody=final, orelse=orelse):
                    for part in (*handlers, *final, *orelse):  # an error may come at any time
                        self.always |= _read(part)
            stack.extend(ast.iter_child_nodes(node))

    def run(self) -> Names:
        """Return the names that are read before they are assigned."""
        return self._block(self._body, frozenset())

    def _block(self, body: Sequence[ast.stmt], after: Names) -> Names:
        for statement in reversed(body):
            after = self._statement(statement, after)
        return after

    def _statement(self, node: ast.stmt, after: Names) -> Names:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in reversed(targets):
                    after = self._target(target, value, after)
                return after | _read(value)
            case ast.AnnAssign(target=target, value=value):
                return after if value is None else self._target(target, value, after) | _read(value)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                return after | {name} | _read(value)  # a tensor may be another name's, too
            case ast.If(test=test, body=body, orelse=orelse):
                return self._block(body, after) | self._block(orelse, after) | _read(test)
            case (
                ast.For(target=target, iter=iter_, body=body, orelse=orelse)
                | ast.AsyncFor(target=target, iter=iter_, body=body, orelse=orelse)
            ):
                end, stored = self._block(orelse, after), _stored(target)
                start = self._rounds(body, end, after, lambda start: start - stored)
                self._target(target, iter_, start | (after & stored), "looped")
                return (start - stored) | end | _read(iter_)
            case ast.While(test=test, body=body, orelse=orelse):
                end = self._block(orelse, after) | _read(test)
                return end | self._rounds(body, end, after, lambda start: start)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                # one that suppresses errors may leave out what follows them
                outside = after if any(map(_suppresses, items)) else frozenset()
                after = self._block(body, after) | outside
                for item in reversed(items):
                    if item.optional_vars is not None:
                        after -= _stored(item.optional_vars)
                    after |= _read(item.context_expr)
                return after
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
                after = self._block(final, after)
                ends = [self._block(handler.body, after) for handler in handlers]
                return self._block(body, self._block(orelse, after)).union(*ends)
            case ast.Match(cases=cases):
                ends = [self._block(case.body, after) for case in cases]
                return after.union(*ends) | _read(node)
            case ast.Return() | ast.Raise():
                return frozenset(_read(node))
            case ast.Break() if self._loops:
                return self._loops[-1][0]
            case ast.Continue() if self._loops:
                return self._loops[-1][1]
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Delete():
                return after
        return after | _read(node)

    def _rounds(
        self, body: Sequence[ast.stmt], end: Names, after: Names, back: Callable[[Names], Names]
    ) -> Names:
        """Return what is read from the begin of a round on, each of which reads what those before
        it have computed; what is read there is so ``back`` at the end of one."""
        reports, self._reports = self._reports, False
        behind, known = end, None
        while behind != known:
            known = behind
            behind = known | back(self._round(body, after, known))
        self._reports = reports
        return self._round(body, after, behind)

    def _round(self, body: Sequence[ast.stmt], after: Names, behind: Names) -> Names:
        self._loops.append((after, behind))
        start = self._block(body, behind)
        self._loops.pop()
        return start

    def _target(
        self, target: ast.expr, value: ast.expr, after: Names, kind: Kind = "assigned"
    ) -> Names:
        stored = [
            each
            for each in ast.walk(target)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        ]
        several = isinstance(target, ast.Tuple | ast.List)
        others = [each.id for each in stored if each.id in after | self.always] if several else []
        for place, each in enumerate(stored):
            name, line = each.id, each.lineno
            if self._reports and name not in after and name not in self.always:
                how: Kind = "unpacked" if several and kind == "assigned" else kind
                again = self._next.get(name, 0)
                self.found.append(Unread(name, how, line, value, again, place, tuple(others)))
            self._next[name] = line
        return (after - {each.id for each in stored}) | _read(target)


def _suppresses(item: ast.withitem) -> bool:
    return "suppress" in ast.unparse(item.context_expr) or "raises" in ast.unparse(item)


def _read(node: ast.AST) -> set[str]:
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)
    }


def _stored(node: ast.AST) -> set[str]:
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
    }
