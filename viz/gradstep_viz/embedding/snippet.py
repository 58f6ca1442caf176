"""An author's code, and where it stands."""

from __future__ import annotations

import re
import tokenize
from pathlib import Path
from typing import NamedTuple

from gradstep_viz.errors import CodeFailed

_MODULE = re.compile(r"-m\s+(?P<main>[\w.]+)|(?P<module>[\w.]+(?<!\.py)):(?P<name>[\w.]+)")
_TARGET = re.compile(r"(?P<file>\S(?:.*\S)?\.py)(?::(?P<name>[\w.]+))?")


class Snippet(NamedTuple):
    """Code that is to be run in ``folder``.

    ``name`` is what to take from it, "" for what the rule finds; ``file`` is "" for code that
    stands in a document, whose line ``line`` then is the first of ``code``.  ``module`` is what
    to import, or to run as ``python -m`` does if there is no ``name``; it then has no ``code``.
    """

    code: str
    folder: str
    file: str = ""
    line: int = 1
    name: str = ""
    module: str = ""


def snippet_of(text: str, folder: Path, line: int = 1) -> Snippet:
    """Take ``text`` for code; or, where it is a TARGET as the command takes it, for the code that
    it names, as seen from ``folder``.

    Raises:
        CodeFailed: there is no such file, or it cannot be read.
    """
    text_of_module = _MODULE.fullmatch(text.strip())
    if text_of_module is not None:
        named = text_of_module.groupdict("")
        return Snippet("", str(folder), name=named["name"], module=named["main"] or named["module"])
    target = _TARGET.fullmatch(text.strip())
    if target is None:
        return Snippet(text, str(folder), line=line)
    path = folder / target["file"]
    try:
        with tokenize.open(path) as file:  # in the encoding that the file declares
            code = file.read()
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        raise CodeFailed(
            f"cannot read {target['file']} ({reason.lower()})",
            remedy=f"the name is relative to the folder {folder.name!r}",
        ) from None
    return Snippet(code, str(path.parent), str(path), 1, target["name"] or "")
