"""Lines of the program as they are when a remedy is carried out."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from linecache import getline
from textwrap import dedent
from typing import Final

from gradstep.capturing.statement import nodes_on, operands_of, tree_of
from gradstep.findings.finding import Fix
from gradstep.findings.source_lines import calls_of
from gradstep.graph.model import Source

Rewrite = Callable[[ast.expr], str | None]
_OPERATORS: Final = (
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Lambda, ast.Await,
)  # fmt: skip


class Line:
    """A line of the program, of which parts are replaced."""

    def __init__(self, at: Source | None) -> None:
        self._at = at
        self._text = "" if at is None else getline(at.file, at.line).rstrip()

    def text(self, node: ast.expr) -> str:
        """Return what stands there for an expression of the line."""
        return self._text.encode()[node.col_offset : node.end_col_offset].decode()

    def rewritten(self, rewrite: Rewrite) -> tuple[Fix, ...]:
        """Return the line with another text for each outermost expression that ``rewrite`` has one
        for; nothing where it has none."""
        if self._at is None:
            return ()
        line, end, parts = self._text.encode(), 0, []
        for node in sorted(nodes_on(self._at), key=lambda expr: expr.col_offset):
            new = rewrite(node) if node.col_offset >= end else None
            if new is not None:
                parts += [line[end : node.col_offset], new.encode()]
                end = node.end_col_offset or 0
        text = b"".join([*parts, line[end:]]).decode()
        return (Fix(self._at, text.strip()),) if parts else ()

    def replaced(self, text: str) -> tuple[Fix, ...]:
        """Return ``text`` in the place of the line, whose own text it may name as ``{line}``."""
        if self._at is None or not self._text:
            return ()
        return (Fix(self._at, text.replace("{line}", dedent(self._text).strip())),)

    def spelt(self, old: str, new: str) -> tuple[Fix, ...]:
        """Return the line with the word ``new`` for ``old``."""
        if self._at is None:
            return ()
        text = re.sub(rf"\b{re.escape(old)}\b", new, self._text)
        return (Fix(self._at, text.strip()),) if text != self._text else ()


def called(node: ast.AST) -> str:
    """Return the name of the function, or the method, that an expression calls; "" of others."""
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""


def called_on(at: Source | None, name: str) -> bool:
    """Return whether a line calls a function, or a method, of this name."""
    return at is not None and any(called(node) == name for node in nodes_on(at))


def not_in_place(at: Source | None) -> tuple[Fix, ...]:
    """Return a statement that changes a variable in place, such as ``x += 1``, or ``x.mul_(2)``,
    with a new value in its place."""
    line = Line(at)
    for node in () if at is None else ast.walk(tree_of(at.file)):
        match node:
            case ast.AugAssign(target=target, value=value) if node.lineno == at.line:  # type: ignore[union-attr]
                sign = ast.unparse(node).removeprefix(ast.unparse(target)).split("=")[0].strip()
                right = line.text(value)
                right = f"({right})" if isinstance(value, _OPERATORS) else right
                name = line.text(target)
                return line.replaced(f"{name} = {name} {sign} {right}")
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(attr=method, value=ast.Name(id=name))) as call
            ):
                if node.lineno == at.line and method.endswith("_"):  # type: ignore[union-attr]
                    rest = line.text(call).removeprefix(f"{name}.{method}")
                    return line.replaced(f"{name} = {name}.{method[:-1]}{rest}")
    return ()


def initialized_at_random(file: str) -> tuple[Fix, ...]:
    """Return the line of a file that sets a weight to one number, with random numbers."""
    for at in (call for name in _CONSTANTS for call in calls_of(name, file)):
        line = Line(at)

        def random(node: ast.expr, line: Line = line) -> str | None:
            if not isinstance(node, ast.Call) or called(node) not in _CONSTANTS or not node.args:
                return None
            name, given = line.text(node.func), line.text(node.args[0])
            front = name.removesuffix(called(node))
            return f"{front}xavier_uniform_({given})" if given.endswith("weight") else None

        if fix := line.rewritten(random):
            return fix
    return ()


_CONSTANTS: Final = ("zeros_", "ones_", "constant_")


def without(at: Source | None, *names: str) -> tuple[Fix, ...]:
    """Return a line without the calls of methods, and the attributes, of these names."""
    line = Line(at)

    def bare(node: ast.expr) -> str | None:
        held = node.func if isinstance(node, ast.Call) and not node.args else node
        if isinstance(held, ast.Attribute) and held.attr in names:
            inner = held.value
            return f"({line.text(inner)})" if isinstance(inner, _OPERATORS) else line.text(inner)
        return None

    return line.rewritten(bare)


def detached(at: Source | None, is_meant: Callable[[ast.expr], bool]) -> tuple[Fix, ...]:
    """Return a line with ``detach()`` behind the expressions that are meant."""
    line = Line(at)

    def other(node: ast.expr) -> str | None:
        if not is_meant(node):
            return None
        text = line.text(node)
        return f"({text}).detach()" if isinstance(node, _OPERATORS) else f"{text}.detach()"

    return line.rewritten(other)


def detached_in(at: Source | None, name: str) -> tuple[Fix, ...]:
    """Return an assignment that makes ``name`` from itself, so that the graph of the old one ends
    there."""
    tree = ast.Module([], []) if at is None else tree_of(at.file)
    added = [node.value for node in ast.walk(tree) if isinstance(node, ast.AugAssign)]

    def is_old(node: ast.expr) -> bool:
        return isinstance(getattr(node, "ctx", None), ast.Load) and ast.unparse(node) == name

    return detached(at, lambda node: is_old(node) or node in added)


def with_operation(at: Source | None, op: str, new: str) -> tuple[Fix, ...]:
    """Return a line with ``new`` for each operation ``op``: in it, ``{}`` stands for what is there
    now, and ``{0}`` for what that is given first."""
    line = Line(at)

    def other(node: ast.expr) -> str | None:
        operands = operands_of(node, op)
        if not operands:
            return None
        return new.replace("{0}", line.text(operands[0])).replace("{}", line.text(node))

    return line.rewritten(other)


def renamed(at: Source | None, old: str, new: str) -> tuple[Fix, ...]:
    """Return a line that calls ``new`` in the place of ``old``."""
    line = Line(at)

    def other(node: ast.expr) -> str | None:
        if not isinstance(node, ast.Call) or called(node) != old:
            return None
        name, whole = line.text(node.func), line.text(node)
        return name[: -len(old)] + new + whole[len(name) :]

    return line.rewritten(other)


def with_argument(
    at: Source | None, call: str, keyword: str, value: str, without: str = ""
) -> tuple[Fix, ...]:
    """Return a line whose calls of ``call`` have ``keyword=value``, and no keyword ``without``."""
    line = Line(at)

    def other(node: ast.expr) -> str | None:
        if not isinstance(node, ast.Call) or called(node) != call:
            return None
        left = [kw for kw in node.keywords if kw.arg not in (keyword, without)]
        given = [line.text(arg) for arg in node.args]
        given += [f"{kw.arg}={line.text(kw.value)}" for kw in left if kw.arg]
        given += [f"**{line.text(kw.value)}" for kw in left if not kw.arg]
        return f"{line.text(node.func)}({', '.join([*given, f'{keyword}={value}'])})"

    return line.rewritten(other)


def with_operand(at: Source | None, op: str, place: int, new: str) -> tuple[Fix, ...]:
    """Return a line that gives the op ``op``, at this place, ``new``, in which ``{}`` stands for
    what it gives it now."""
    line = Line(at)
    inner: list[tuple[ast.expr, ast.expr]] = [
        (operands[place], node)
        for node in (nodes_on(at) if at is not None else ())
        if (operands := operands_of(node, op)) is not None and len(operands) > place
    ]

    def other(node: ast.expr) -> str | None:
        for operand, owner in inner:
            if operand is node:
                text = line.text(node)
                whole = f"({text})" if isinstance(node, _OPERATORS) else text
                expr = new.replace("{} ", f"{text} ", 1) if new.startswith("{} ") else new
                expr = expr.replace("{}", whole)
                in_front = isinstance(owner, ast.Call) and node not in owner.args
                bare = in_front and not isinstance(node, _OPERATORS) and " " in new
                return f"({expr})" if bare else expr
        return None

    return line.rewritten(other)
