"""``.. packages:: FOLDER`` lists a package and all below it, each with what it says of itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from generated import Generated, escaped, table
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parents[2]


class Packages(Generated):
    """A row for each package: where it is, and the first sentence of its docstring."""

    required_arguments = 1

    def lines(self) -> Iterator[str]:
        yield from table(("Where", "What"), map(self._row, _initials(ROOT / self.arguments[0])))

    def _row(self, path: Path) -> tuple[str, str]:
        self.env.note_dependency(str(path))
        docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        folder = path.parent.relative_to(ROOT).as_posix()
        return f"``{folder}/``", escaped(" ".join(docstring.partition("\n\n")[0].split()))


def _initials(folder: Path) -> list[Path]:
    """The ``__init__.py`` of each package, parents before what they hold."""
    return sorted(folder.rglob("__init__.py"), key=lambda path: path.parent.parts)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive with Sphinx."""
    app.add_directive("packages", Packages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
