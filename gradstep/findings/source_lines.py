"""Lines of the program that say where something is made or called, found in its text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from gradstep.capturing.statement import tree_of
from gradstep.graph.model import Source

_MODULE: Final = re.compile(r"\bnn\.[A-Z]\w*$|\bParameter$")
_NO_GRAD: Final = re.compile(r"\b(no_grad|inference_mode|set_grad_enabled)\b")


def assigned(name: str, file: str) -> list[Source]:
    """Return the lines of ``file`` that assign to ``name``, or to an attribute of that name."""
    last = name.rpartition(".")[2]
    return [
        Source(file, node.lineno)
        for node in _nodes(file)
        if isinstance(node, ast.Assign | ast.AnnAssign)
        if any(target.rpartition(".")[2] == last for target in _targets_of(node))
    ]


def _targets_of(node: ast.Assign | ast.AnnAssign) -> list[str]:
    return [
        ast.unparse(part)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for part in (target.elts if isinstance(target, ast.Tuple) else [target])
    ]


def calls_of(method: str, file: str, name: str = "") -> list[Source]:
    """Return the lines of ``file`` that call ``method``, of ``name`` where that is given."""
    last = name.rpartition(".")[2]
    lines = []
    for node in _nodes(file):
        if isinstance(node, ast.Call):
            holder, _, called = ast.unparse(node.func).rpartition(".")
            if called == method and (not last or holder.rpartition(".")[2] == last):
                lines.append(Source(file, node.lineno))
    return sorted(lines)


@lru_cache(maxsize=64)
def as_written(name: str, file: str) -> str:
    """Return what the lines of ``file`` call an attribute: in methods, ``self.state`` is what is
    ``net.state`` elsewhere."""
    _, _, path = name.partition(".")
    written = {ast.unparse(node) for node in _nodes(file) if isinstance(node, ast.Attribute)}
    return f"self.{path}" if name not in written and f"self.{path}" in written else name


@lru_cache(maxsize=64)
def assigned_from_itself(name: str, file: str) -> list[Source]:
    """Return the lines of ``file`` that make a new ``name`` from the old one."""
    lines = []
    for node in _nodes(file):
        if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == name:
            lines.append(Source(file, node.lineno))
        elif isinstance(node, ast.Assign) and name in _targets_of(node):
            inner = {
                ast.unparse(part) for part in ast.walk(node.value) if isinstance(part, ast.expr)
            }
            if name in inner:
                lines.append(Source(file, node.lineno))
    return sorted(lines)


def begins_as_none(name: str, file: str) -> bool:
    """Return whether a line of ``file`` assigns None to ``name``."""
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and node.value.value is None
        and name in _targets_of(node)
        for node in _nodes(file)
    )


def head_of_loop(at: Source) -> Source | None:
    """Return the first line of the body of the innermost loop around a line, None without one."""
    loops = [
        node
        for node in _nodes(at.file)
        if isinstance(node, ast.For | ast.While)
        and node.lineno < at.line <= (node.end_lineno or 0)
        and node.body[0].lineno > node.lineno
    ]
    if not loops:
        return None
    return Source(at.file, max(loops, key=lambda loop: loop.lineno).body[0].lineno)


def under_no_grad(at: Source) -> Source | None:
    """Return the line of the ``with no_grad()``, or of the function decorated so, around a line."""
    lines = []
    for node in _nodes(at.file):
        switches: list[ast.expr] = []
        if isinstance(node, ast.With):
            switches = [item.context_expr for item in node.items]
        elif isinstance(node, ast.FunctionDef):
            switches = node.decorator_list
        if (
            switches
            and node.lineno <= at.line <= (node.end_lineno or 0)  # type: ignore[attr-defined]
            and any(_NO_GRAD.search(ast.unparse(switch)) for switch in switches)
        ):
            lines.append(Source(at.file, switches[0].lineno))
    return max(lines, default=None)


def _function_at(at: Source) -> ast.FunctionDef | None:
    for node in _nodes(at.file):
        if isinstance(node, ast.FunctionDef) and at.line in (
            node.lineno, *(decorator.lineno for decorator in node.decorator_list)
        ):  # fmt: skip
            return node
    return None


def _parts_around(at: Source) -> Iterator[ast.AST]:
    """Yield what is in the function around a line, nothing where there is none."""
    around = [
        node
        for node in _nodes(at.file)
        if isinstance(node, ast.FunctionDef) and node.lineno <= at.line <= (node.end_lineno or 0)
    ]
    for node in around[-1:]:
        yield from ast.walk(node)


def measures_gradients(at: Source) -> bool:
    """Return whether the function around a line reads a ``.grad``, and no optimizer steps in it."""
    parts = [part for part in _parts_around(at) if isinstance(part, ast.Attribute)]
    return "step" not in {part.attr for part in parts} and any(
        part.attr == "grad" and isinstance(part.ctx, ast.Load) for part in parts
    )


def modules_made_around(at: Source) -> list[Source]:
    """Return the lines that make a module of ``nn``, or a parameter, in the function around a
    line."""
    return sorted(
        Source(at.file, part.lineno)
        for part in _parts_around(at)
        if isinstance(part, ast.Call) and _MODULE.search(ast.unparse(part.func))
    )


def returned(function: Source) -> Source | None:
    """Return the line of what the function at a line returns last."""
    node = _function_at(function)
    lines = [part.lineno for part in ast.walk(node) if isinstance(part, ast.Return)] if node else []
    return Source(function.file, max(lines)) if lines else None


def arguments_of(function: Source | None) -> list[str]:
    """Return the names of the arguments of the function at a line."""
    node = None if function is None else _function_at(function)
    return [] if node is None else [arg.arg for arg in node.args.args]


def aliases(file: str) -> list[tuple[str, str, Source]]:
    """Return each ``one = other`` of two names of a file, with its line."""
    return [
        (ast.unparse(node.targets[0]), ast.unparse(node.value), Source(file, node.lineno))
        for node in _nodes(file)
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and all(
            isinstance(side, ast.Name | ast.Attribute) for side in (node.targets[0], node.value)
        )
    ]


@lru_cache(maxsize=64)
def reads_grad(name: str, file: str) -> bool:
    """Return whether a file reads ``name.grad``."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == "grad"
        and isinstance(node.ctx, ast.Load)
        and ast.unparse(node.value) == name
        for node in _nodes(file)
    )


def schedulers(file: str) -> list[Source]:
    """Return the lines of a file that make a learning rate scheduler, such as ``LambdaLR``."""
    return sorted(
        Source(file, node.lineno)
        for node in _nodes(file)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("LR", "LROnPlateau"))
    )


def steps_from_grad(file: str) -> list[Source]:
    """Return the lines of a file that multiply a ``.grad`` by a number, as a step does."""
    return sorted(
        Source(file, node.lineno)
        for node in _nodes(file)
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult)
        and any(
            isinstance(side, ast.Attribute) and side.attr == "grad"
            for side in (node.left, node.right)
        )
    )


@lru_cache(maxsize=64)
def copies_of_numbers(file: str) -> frozenset[Source]:
    """Return the lines of a file that call ``tensor([...])`` with what others have computed."""
    return frozenset(
        Source(file, node.lineno)
        for node in _nodes(file)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] == "tensor"
        and node.args
        and isinstance(node.args[0], ast.ListComp | ast.List)
        and any(isinstance(part, ast.Name | ast.Attribute) for part in ast.walk(node.args[0]))
    )


def scaled_grads(file: str) -> list[Source]:
    """Return the lines of a file that multiply or divide a ``.grad`` in place."""
    lines = []
    for node in _nodes(file):
        target: ast.AST | None = None
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div | ast.Mult):
            target = node.target
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            target = node.func.value if node.func.attr in ("div_", "mul_") else None
        if isinstance(target, ast.Attribute) and target.attr == "grad":
            lines.append(Source(file, target.lineno))
    return sorted(lines)


def calls_with(keyword: str, file: str) -> list[Source]:
    """Return the lines of ``file`` with a call that has the argument ``keyword``."""
    return sorted(
        Source(file, node.lineno)
        for node in _nodes(file)
        if isinstance(node, ast.Call) and any(argument.arg == keyword for argument in node.keywords)
    )


def _nodes(file: str) -> Iterator[ast.AST]:
    return ast.walk(tree_of(file))


def assigned_items(key: str, file: str) -> list[Source]:
    """Return the lines of ``file`` that assign to ``x["key"]``, or name a ``"key"`` in a
    dictionary."""
    lines = []
    for node in _nodes(file):
        if isinstance(node, ast.Assign):
            targets: list[ast.expr | None] = [
                target.slice for target in node.targets if isinstance(target, ast.Subscript)
            ]
        else:
            targets = list(node.keys) if isinstance(node, ast.Dict) else []
        if any(isinstance(each, ast.Constant) and each.value == key for each in targets):
            lines.append(Source(file, node.lineno))  # type: ignore[attr-defined]
    return sorted(lines)


def assigned_at(at: Source | None) -> str:
    """Return what a line assigns to first, "" where it assigns nothing."""
    if at is None:
        return ""
    return next(
        (
            _targets_of(node)[0]
            for node in _nodes(at.file)
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.lineno == at.line
        ),
        "",
    )
