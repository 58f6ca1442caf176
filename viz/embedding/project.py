"""The modules that the author may be working on, in contrast to what is installed."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

_OURS = Path(__file__).resolve().parents[2]

State = tuple[int, int] | None
_imported: dict[str, State] = {}
"""The modules that authors' code has imported so far, and the state of their files then."""


@cache
def _installed() -> tuple[str, ...]:
    places = {*sysconfig.get_paths().values(), site.getusersitepackages()}
    places |= {str(_OURS / package) for package in ("autograd_core", "viz", "tui")}
    return tuple(f"{os.path.realpath(place)}{os.sep}" for place in places)


@cache
def is_of_project(file: str) -> bool:
    """Whether ``file`` is the author's own, neither Python's, nor installed, nor ours."""
    return os.path.isabs(file) and not os.path.realpath(file).startswith(_installed())


def project_modules() -> dict[str, str]:
    """The author's own modules that are imported, each with its file."""
    found = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and is_of_project(file):
            found[name] = file
    found.pop("__main__", None)  # the program that makes the documents
    return found


@contextmanager
def fresh_modules() -> Iterator[None]:
    """Inside, an import finds the author's modules as they are now on disk; a server that makes
    documents again and again would else go on with what it imported first."""
    files = project_modules()
    if any(name in files and _state(files[name]) != state for name, state in _imported.items()):
        for name in _imported:
            sys.modules.pop(name, None)
        _imported.clear()
    before = set(sys.modules)
    try:
        yield
    finally:
        new = {name: file for name, file in project_modules().items() if name not in before}
        _imported.update({name: _state(file) for name, file in new.items()})


def _state(file: str) -> State:
    try:
        found = os.stat(file)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
