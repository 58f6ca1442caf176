"""Lines of the program as they are when a remedy is carried out.

What is meant is an edit of the syntax tree. The text of a line follows from it, with the program's
own spelling and with parentheses where they have to be, and is parsed again: where the tree of that
is another one than is meant, there is no fix.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from itertools import chain, zip_longest
from linecache import getline, getlines
from textwrap import dedent, indent
from typing import Final, NamedTuple, TypeVar

from gradstep.capturing.statement import nodes_on, operands_of, tree_of
from gradstep.findings.finding import Fix
from gradstep.findings.source_lines import calls_of
from gradstep.graph.model import Source

Rewrite = Callable[[ast.expr], str | None]
_Tree = TypeVar("_Tree", bound=ast.AST)
_WITHOUT_PARENTHESES: Final = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.Constant, ast.List, ast.Dict, ast.Set,
    ast.ListComp, ast.SetComp, ast.DictComp,
)  # fmt: skip


def example(fixes: Sequence[Fix]) -> tuple[Fix, ...]:
    """Return fixes as an example, with a number that the author of the program has to choose."""
    return tuple(fix._replace(is_example=True) for fix in fixes)


class Line:
    """A line of the program, of which parts are replaced."""

    def __init__(self, at: Source | None) -> None:
        self._at = at
        self._text = "" if at is None else getline(at.file, at.line).rstrip()

    def text(self, node: ast.expr) -> str:
        """Return what stands there for an expression of the line."""
        return self._text.encode()[node.col_offset : node.end_col_offset].decode()

    def is_only(self, node: ast.expr) -> bool:
        """Return whether there is nothing but an expression on the line, and perhaps a comment."""
        return _is_same(_expression(self._text), node)

    def spelled(self, template: str, nodes: Mapping[str, ast.expr]) -> str:
        """Return an expression in which ``{name}`` stands for one of the ``nodes`` of the line, in
        parentheses where it needs them."""
        parts = re.split(r"\{(\w*)\}", template)  # every other one is a name
        given = [nodes[name] for name in parts[1::2]]
        marks = [f"_node_{number}" for number in range(len(given))]

        def filled(texts: Sequence[str]) -> str:
            return "".join(chain.from_iterable(zip_longest(parts[::2], texts, fillvalue="")))

        tree = _expression(filled(marks))
        assert tree is not None, template
        by_mark = dict(zip(marks, given, strict=True))
        names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
        meant = _with(tree, {node: by_mark[node.id] for node in names if node.id in by_mark})
        texts = [closed(self.text(node)) for node in given]
        for place, node in enumerate(given):
            bare = [*texts[:place], self.text(node), *texts[place + 1 :]]
            if _is_same(_expression(filled(bare)), meant):
                texts = bare
        return filled(texts)

    def rewritten(self, rewrite: Rewrite) -> tuple[Fix, ...]:
        """Return the line with another expression for each outermost one that ``rewrite`` has one
        for; nothing where it has none."""
        nodes: list[tuple[ast.expr, str]] = []
        end = 0
        here = () if self._at is None else nodes_on(self._at)
        for node in sorted(here, key=lambda expr: expr.col_offset):
            text = rewrite(node) if node.col_offset >= end else None
            if text is not None:
                nodes.append((node, text))
                end = node.end_col_offset or 0
        others = {node: expr for node, text in nodes if (expr := _expression(text)) is not None}
        if self._at is None or not nodes or len(others) < len(nodes):
            return ()
        meant = _with(self._statement.tree, others)
        for spell in (str, closed):
            line, end, parts = self._text.encode(), 0, []
            for node, text in nodes:
                parts += [line[end : node.col_offset], spell(text).encode()]
                end = node.end_col_offset or 0
            changed = b"".join([*parts, line[end:]]).decode()
            if _is_same(self._statement.parsed(changed), meant):
                return (Fix(self._at, changed.strip()),)
        return ()

    def replaced(self, text: str) -> tuple[Fix, ...]:
        """Return ``text`` in the place of the line, whose own text it may name as ``{line}``;
        nothing where the program could not be parsed then."""
        if self._at is None or not self._text:
            return ()
        new = text.replace("{line}", dedent(self._text).strip())
        margin = self._text[: len(self._text) - len(self._text.lstrip())]
        return () if self._statement.parsed(indent(new, margin)) is None else (Fix(self._at, new),)

    @cached_property
    def _statement(self) -> _Statement:
        """The outermost statement that the line is in."""
        assert self._at is not None
        at, lines = self._at.line, getlines(self._at.file)
        for node in tree_of(self._at.file).body:
            decorators = getattr(node, "decorator_list", ())
            first = min([node.lineno, *(each.lineno for each in decorators)])
            last = node.end_lineno or 0
            if first <= at <= last:
                return _Statement(
                    ast.Module([node], []), "".join(lines[first - 1 : at - 1]),
                    "".join(lines[at:last]),
                )  # fmt: skip
        return _Statement(ast.Module([], []), "", "")


class _Statement(NamedTuple):
    """A statement, with the text before and after one of its lines."""

    tree: ast.Module
    before: str
    after: str

    def parsed(self, line: str) -> ast.Module | None:
        """Return the tree with another text for the line, None where it is no program."""
        try:
            return ast.parse(f"{self.before}{line}\n{self.after}")
        except SyntaxError:
            return None


def closed(text: str) -> str:
    """Return an expression in parentheses, unless it stands for itself anywhere."""
    whole = _expression(text)
    return text if isinstance(whole, _WITHOUT_PARENTHESES) else f"({text})"


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except SyntaxError:
        return None


def _with(tree: _Tree, others: Mapping[ast.expr, ast.expr]) -> _Tree:
    """Return a copy of a tree with others in the place of some nodes."""
    return deepcopy(tree, {id(node): other for node, other in others.items()})


def _is_same(tree: ast.AST | None, other: ast.AST) -> bool:
    """Return whether two trees say the same."""
    return tree is not None and _dumped(tree) == _dumped(other)


def _dumped(tree: ast.AST) -> str:
    return ast.dump(tree).replace("ctx=Store()", "ctx=Load()")


def called(node: ast.AST) -> str:
    """Return the name of the function, or the method, that an expression calls; "" of others."""
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return ""


def called_by(*ways: str) -> tuple[str, ...]:
    """Return the function of each way that is a call: ``grad`` of ``autograd.grad()``."""
    calls = [way.removesuffix("()") for way in ways if way.endswith("()")]
    return tuple(name.rpartition(".")[2] for name in calls)


def called_on(at: Source | None, name: str) -> bool:
    """Return whether a line calls a function, or a method, of this name."""
    return at is not None and any(called(node) == name for node in nodes_on(at))


def not_in_place(at: Source | None) -> tuple[Fix, ...]:
    """Return a statement that changes a variable in place, such as ``x += 1``, or ``x.mul_(2)``,
    with a new value in its place."""
    line = Line(at)
    for node in () if at is None else ast.walk(tree_of(at.file)):
        match node:
            case ast.AugAssign(target=target, op=sign, value=value) if node.lineno == at.line:  # type: ignore[union-attr]
                name = line.text(target)
                right = ast.unparse(ast.BinOp(ast.Name("x"), sign, ast.Name("y")))[1:-1]
                text = line.spelled(f"{{0}}{right}{{1}}", {"0": target, "1": value})
                return line.replaced(f"{name} = {text}")
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
            return line.text(held.value)
        return None

    return line.rewritten(bare)


def detached(at: Source | None, is_meant: Callable[[ast.expr], bool]) -> tuple[Fix, ...]:
    """Return a line with ``detach()`` behind the expressions that are meant."""
    line = Line(at)

    def other(node: ast.expr) -> str | None:
        return line.spelled("{}.detach()", {"": node}) if is_meant(node) else None

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
        return line.spelled(new, {"": node, "0": operands[0]}) if operands else None

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
    given = [
        operands[place]
        for node in (nodes_on(at) if at is not None else ())
        if (operands := operands_of(node, op)) is not None and len(operands) > place
    ]
    return line.rewritten(lambda node: line.spelled(new, {"": node}) if node in given else None)
