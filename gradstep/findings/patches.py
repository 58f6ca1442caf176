"""Fixes as changes of files: their new texts, and the patch that makes them."""

from __future__ import annotations

import tokenize
from collections.abc import Iterable, Mapping, Sequence
from difflib import unified_diff
from io import BytesIO
from linecache import getlines
from pathlib import Path
from textwrap import indent
from typing import NamedTuple

from gradstep.capturing.sources import portable
from gradstep.findings.finding import Fix


class Text(NamedTuple):
    """A text of a file, and the encoding that it is in."""

    text: str
    encoding: str

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return self.text.encode(self.encoding)


def text_of(path: Path) -> Text:
    """Return the text of a Python file, line ends as they are.

    Raises:
        OSError: it cannot be read.
        SyntaxError, UnicodeError: it is no text.
    """
    data = path.read_bytes()
    encoding, _ = tokenize.detect_encoding(BytesIO(data).readline)
    return Text(data.decode(encoding), encoding)


def is_as_run(path: Path) -> bool:
    """Return whether a file is the one that ran, of which Python keeps the lines."""
    try:
        lines = text_of(path).text.splitlines()
    except (OSError, SyntaxError, UnicodeError):
        return False
    return [line.rstrip("\r\n") for line in getlines(str(path))] == lines


def agreeing(alternatives: Iterable[Sequence[Fix]]) -> list[Fix]:
    """Return the fixes that can be made together: of two that change a line, those that come
    first."""
    fixes: dict[object, Fix] = {}
    for several in alternatives:
        if not any(fix.source in fixes for fix in several):
            fixes |= {fix.source: fix for fix in several}
    return [*fixes.values()]


def fixed(text: str, fixes: Iterable[Fix]) -> str:
    r"""Return the text of a file with the lines of its fixes replaced.

    >>> from gradstep.graph.model import Source
    >>> fixed("a = 1\n  b = 2", [Fix(Source("x.py", 2), "b = 3\nc = 4")])
    'a = 1\n  b = 3\n  c = 4'
    """
    lines = text.splitlines(keepends=True)
    for fix in fixes:
        old = lines[fix.source.line - 1]
        body = old.rstrip("\r\n")
        end = old[len(body) :]
        margin = body[: len(body) - len(body.lstrip())]
        new = indent(fix.text, margin).split("\n") if fix.text else []
        lines[fix.source.line - 1] = (end or "\n").join(new) + (end if new else "")
    return "".join(lines)


def by_file(fixes: Iterable[Fix]) -> dict[str, list[Fix]]:
    """Return the fixes of each file."""
    files: dict[str, list[Fix]] = {}
    for fix in fixes:
        files.setdefault(fix.source.file, []).append(fix)
    return files


def patch_of(fixes: Sequence[Fix], here: Path) -> str:
    """Return the patch that makes fixes in the texts of files as they ran."""
    texts = {}
    for file, those in by_file(fixes).items():
        path = Path(file)
        text = text_of(path).text if is_as_run(path) else "".join(getlines(file))
        texts[file] = text, fixed(text, those)
    return patch(texts, here)


def patch(texts: Mapping[str, tuple[str, str]], here: Path) -> str:
    """Return the patch that makes the second text of each file of the first, as ``git apply`` and
    ``patch -p1`` take it in the folder ``here``."""
    parts = []
    for file, (old, new) in texts.items():
        name = portable(file, here)
        lines = unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True), f"a/{name}", f"b/{name}"
        )
        parts += [
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in lines
        ]
    return "".join(parts)
