"""Columns of a gradient that are read in another order than those of its input."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.program import Files, functions_of, name_of, walked
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line
from gradstep.graph.model import Source


@dataclass(frozen=True)
class WrongColumn(Reason):
    """A column of a ``gradient`` by an input is called after another column of that; ``reads`` are
    all such columns in the function: the line, the column, and the one that is meant."""

    code = "column-order"
    keeps_loss = False
    blames_line = True
    gradient: str
    input: str
    name: str
    column: int
    is_of: str
    columns: tuple[str, ...]
    reads: tuple[tuple[Source, int, int], ...]

    def text(self) -> str:
        return (
            f"{self.name} is column {self.column} of {self.gradient}, the derivative by "
            f"{self.is_of}: the columns of {self.input} are {', '.join(self.columns)}"
        )

    def remedy(self) -> str:
        meant = self.name.rpartition("_")[2]
        return f"read column {self.columns.index(meant)} for {self.name}"

    def fix(self) -> tuple[Fix, ...]:
        meant = {at: column for _, at, column in self.reads}
        fixes: list[Fix] = []
        for source in dict.fromkeys(source for source, _, _ in self.reads):
            line = Line(source)

            def other(node: ast.expr, line: Line = line) -> str | None:
                of, at = _column(node) or ("", -1)
                if of != self.gradient or at not in meant or not isinstance(node, ast.Subscript):
                    return None
                front, _, last = line.text(node).rpartition(",")
                column = meant[at]
                return f"{front}, {column}:{column + 1}]" if ":" in last else f"{front}, {column}]"

            fixes += line.rewritten(other)
        return tuple(fixes)


def columns(facts: Facts) -> Iterator[Reason]:
    """Yield the columns of a gradient whose names end as that of another column of its input."""
    for file, tree in facts[Files].trees():
        for scope in (tree, *(defined.node for defined in functions_of(tree))):
            yield from _in_function(scope, file)


def _in_function(scope: ast.AST, file: str) -> Iterator[Reason]:
    inputs: dict[str, tuple[str, ...]] = {}
    gradients: dict[str, str] = {}
    read: list[tuple[str, int, str, int]] = []  # name, line, of what, column
    nodes = sorted(
        (node for node in walked(scope) if isinstance(node, ast.Assign)), key=lambda one: one.lineno
    )
    for node in nodes:
        for target, value in _pairs(node):
            name = name_of(target)
            if names := _joined(value):
                inputs[name] = names
            elif by := _differentiated(value):
                first = target.elts[0] if isinstance(target, ast.Tuple | ast.List) else target
                gradients[name_of(first)] = by
            elif (column := _column(value)) is not None:
                read.append((name, node.lineno, *column))
    wrong: list[
        tuple[str, str, Source, int, int]
    ] = []  # name, of what, line, column, the one meant
    for name, line, of, at in read:
        names = inputs.get(gradients.get(of, ""), ())
        meant = name.rpartition("_")[2] if "_" in name else ""
        if at < len(names) and meant in names and names[at] != meant:
            wrong.append((name, of, Source(file, line), at, names.index(meant)))
    for name, of, source, at, _ in wrong[:1]:
        names = inputs[gradients[of]]
        reads = tuple(each[2:] for each in wrong if each[1] == of)
        yield WrongColumn(of, gradients[of], name, at, names[at], names, reads, source=source)


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    for target in node.targets:
        if (
            isinstance(target, ast.Tuple)
            and isinstance(node.value, ast.Tuple)
            and len(target.elts) == len(node.value.elts)
        ):
            yield from zip(target.elts, node.value.elts, strict=True)
        else:
            yield target, node.value


def _joined(value: ast.expr) -> tuple[str, ...]:
    """Return the names that ``cat()`` or ``stack()`` puts side by side."""
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        if value.func.attr in ("cat", "stack", "hstack", "column_stack", "concat"):
            parts = value.args[0] if value.args else None
            names = [name_of(each) for each in getattr(parts, "elts", ())]
            return tuple(names) if len(set(names)) == len(names) > 1 and all(names) else ()
        value = value.func.value  # .requires_grad_() behind it
    return ()


def _differentiated(value: ast.expr) -> str:
    """Return by what ``autograd.grad()`` differentiates."""
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
        value = value.value
    if isinstance(value, ast.Call) and name_of(value.func) == "grad" and len(value.args) > 1:
        return name_of(value.args[1])
    return ""


def _column(value: ast.expr) -> tuple[str, int] | None:
    """Return of what an expression is one column, and which: ``g[:, 1]``, ``g[:, 1:2]``."""
    match value:
        case ast.Subscript(value=of, slice=ast.Tuple(elts=[*rows, last])):
            if not rows or not all(
                isinstance(each, ast.Slice) or getattr(each, "value", None) is Ellipsis
                for each in rows
            ):
                return None
            match last:
                case ast.Constant(value=int(column)):
                    return name_of(of), column
                case ast.Slice(lower=low, upper=ast.Constant(value=int(end))):
                    first = 0 if low is None else getattr(low, "value", None)
                    return (name_of(of), first) if first == end - 1 else None
    return None


RULES: Final = (
    Rule(columns, Meaning(
        "column-order", "warning", "columns of a gradient are mixed up",
        "Its columns have the names of the columns of the input, in another order.",
        "p = torch.cat([t, x], 1)\nu_x, u_t = g[:, 0], g[:, 1]",
        "p = torch.cat([t, x], 1)\nu_t, u_x = g[:, 0], g[:, 1]",
        "When the names do not refer to the columns.",
    ), needs=(Files,)),
)  # fmt: skip
