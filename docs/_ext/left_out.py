"""``.. left-out:: FILE`` lists the names of PyTorch that are not here, as a test holds them, and
``.. known-differences:: FILE`` where functions answer differently."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generated import Generated, escaped, sentence
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]


class LeftOut(Generated):
    """The constant ``LEFT_OUT`` of a test file: by reason, the names that have no counterpart."""

    required_arguments = 1

    def lines(self) -> Iterator[str]:
        path = ROOT / self.arguments[0]
        self.env.note_dependency(str(path))
        for reason, names in _by_reason(path):
            yield f"{escaped(sentence(reason))}"
            yield f"    {', '.join(f'``{name}``' for name in names)}"
            yield ""


class KnownDifferences(Generated):
    """The constant ``KNOWN`` of a test file: by reason, functions and where they differ."""

    required_arguments = 1

    def lines(self) -> Iterator[str]:
        path = ROOT / self.arguments[0]
        self.env.note_dependency(str(path))
        for reason, entries in _constant(path, "KNOWN").items():
            named = dict.fromkeys(name for names, _, _ in entries for name in names.split())
            functions = ", ".join(f"``{name}``" for name in named if name != "*")
            yield from [f"* {reason}", "", f"  {functions}" if functions else "", ""]


def _by_reason(path: Path) -> Iterator[tuple[str, list[str]]]:
    """LEFT_OUT maps reasons to names, or modules to names and their reasons."""
    found: dict[str, list[str]] = {}
    for key, value in _constant(path, "LEFT_OUT").items():
        if isinstance(value, str):
            found.setdefault(key, []).extend(value.split())
        else:
            for name, reason in value.items():
                found.setdefault(reason, []).append(f"{key}.{name}")
    yield from found.items()


def _constant(path: Path, wanted: str) -> dict[str, Any]:
    """The literal that a module assigns to ``wanted``; it may name strings assigned before."""
    strings: dict[str, ast.expr] = {}

    class Names(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:  # the name that ast asks for
            return strings[node.id]

    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.AnnAssign):
            target, value = statement.target, statement.value
        elif isinstance(statement, ast.Assign):
            target, value = statement.targets[0], statement.value
        else:
            continue
        if isinstance(target, ast.Name) and value is not None:
            name = target.id
            if name == wanted:
                found: dict[str, Any] = ast.literal_eval(Names().visit(value))
                return found
            strings[name] = value
    raise LookupError(f"{path} has no {wanted}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive with Sphinx."""
    app.add_directive("left-out", LeftOut)
    app.add_directive("known-differences", KnownDifferences)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
