"""The modules that the author may be working on, in contrast to what is installed."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from gradstep.own_files import is_own_file


@cache
def _installed() -> tuple[str, ...]:
    places = {*sysconfig.get_paths().values(), site.getusersitepackages()}
    return tuple(f"{os.path.realpath(place)}{os.sep}" for place in places)


@cache
def is_of_project(file: str) -> bool:
    """Tell whether ``file`` is the author's own: not Python's, not installed, and not part of
    gradstep."""
    real = os.path.realpath(file)
    return os.path.isabs(file) and not (is_own_file(real) or real.startswith(_installed()))


@contextmanager
def own_imports() -> Iterator[set[str]]:
    """Import the author's modules as they are on disk, and forget them again afterwards.

    A server that makes documents again and again would else go on with what it imported first,
    and two folders could not have modules of the same name.  The set has, at the end, the files
    that the code inside may depend on.
    """
    before = _modules()
    files = set(before.values())
    try:
        yield files
    finally:
        for name, file in _modules().items():
            files.add(file)
            if name not in before:
                del sys.modules[name]


def _modules() -> dict[str, str]:
    """Find the author's own modules that are imported, each with its file."""
    found = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.endswith(".py") and is_of_project(file):
            found[name] = file
    found.pop("__main__", None)  # the program that makes the documents
    return found
