"""Links from boxes to the lines of the program that made them.

What leads to an editor needs the whole path of a file, what leads to a repository the path within
it; ``{path}`` is the one or the other.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import quote

from gradstep.graph.model import Source
from gradstep_viz.errors import VizError

SCHEMES: Final = ("http", "https", "vscode", "file")
_EDITORS: Final = ("vscode", "file")
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")


class Links(NamedTuple):
    """Fills ``template``, such as ``vscode://file/{path}:{line}``, in; sources with relative names
    are looked for in the folder ``here``, and where Python looks.

    >>> Links("https://host/repo/blob/main/{path}#L{line}", Path("/")).href(Source("a b.py", 7))
    'https://host/repo/blob/main/a%20b.py#L7'
    """

    template: str
    here: Path

    def check(self) -> None:
        """Raise VizError for a template that leads nowhere, or to what could run something."""
        scheme = _scheme(self.template)
        if scheme and scheme not in SCHEMES:
            raise VizError(
                f"links may not begin with {scheme}:",
                remedy=f"use {', '.join(SCHEMES)}, or a relative address",
            )
        if any(ord(character) < 33 for character in self.template):
            raise VizError("a link has a space or a control character", remedy="write %20")
        unknown = set(re.findall(r"\{[^}]*\}", self.template)) - {"{path}", "{line}"}
        if unknown or "{path}" not in self.template:
            problem = (
                f"{min(unknown)} means nothing in a link" if unknown else "a link needs {path}"
            )
            raise VizError(problem, remedy="write it as in 'vscode://file/{path}:{line}'")

    def href(self, source: Source | None) -> str:
        """Fill in where ``source`` is to be seen; "" where that is unknown."""
        if source is None:
            return ""
        path = _path(source.file, self.here, _scheme(self.template) in _EDITORS)
        if not path:
            return ""
        before, _, after = self.template.partition("{path}")
        if before.endswith("/") and not before.endswith(":///"):
            path = path.removeprefix("/") if _scheme(self.template) == "vscode" else path
        return f"{before}{quote(path)}{after}".replace("{line}", str(source.line))


def _scheme(template: str) -> str:
    match = _SCHEME.match(template)
    return match[1].lower() if match else ""


@lru_cache(maxsize=4096)
def _path(file: str, here: Path, whole: bool) -> str:
    """Return the path of ``file``: the whole one, or that within its repository."""
    path = _find(file, here)
    if path is None:
        return "" if whole or Path(file).is_absolute() else Path(file).as_posix()
    if whole:
        return path.as_posix()
    roots = (parent for parent in path.parents if (parent / ".git").exists())
    root = next(roots, here.resolve())
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name


def _find(file: str, here: Path) -> Path | None:
    for folder in (here, *map(Path, sys.path)):
        if (path := folder / file).is_file():
            return path.resolve()
    return None
