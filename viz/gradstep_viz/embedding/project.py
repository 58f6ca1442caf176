"""The modules that the author may be working on, in contrast to what is installed."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

from gradstep.guest.own_files import is_own_file


@cache
def _installed() -> tuple[str, ...]:
    places = {*sysconfig.get_paths().values(), site.getusersitepackages()}
    return tuple(f"{os.path.realpath(place)}{os.sep}" for place in places)


_MARKS: Final = (".git", "pyproject.toml", "setup.py", "setup.cfg")
"""What lies in the folder of a project, and in no folder below."""
_START: Final = os.getcwd()
"""Where the program that makes the documents began."""


@cache
def is_of_project(file: str, folder: str) -> bool:
    """Tell whether ``file`` is of the project that ``folder``, of a document, belongs to: neither
    installed, nor a library from elsewhere, nor part of gradstep."""
    real = os.path.realpath(file)
    return (
        os.path.isabs(file)
        and real.startswith((_project_of(folder), _project_of(_START)))
        and not (is_own_file(real) or real.startswith(_installed()))
    )


@cache
def _project_of(folder: str) -> str:
    """Find the nearest folder around ``folder`` that looks like a project, else itself."""
    path = Path(folder).resolve()
    project = next(
        (
            parent
            for parent in (path, *path.parents)
            if any((parent / mark).exists() for mark in _MARKS)
        ),
        path,
    )
    return os.path.join(project, "")


@contextmanager
def own_imports(folder: str) -> Iterator[set[str]]:
    """Import the modules of the project around ``folder`` as they are on disk, and forget them
    again afterwards.

    A server that makes documents again and again would else go on with what it imported first,
    and two folders could not have modules of the same name.  The set has, at the end, the files
    that the code inside may depend on.
    """
    before = _modules(folder)
    files = set(before.values())
    try:
        yield files
    finally:
        for name, file in _modules(folder).items():
            files.add(file)
            if name not in before:
                del sys.modules[name]


def _modules(folder: str) -> dict[str, str]:
    """Find the project's own modules that are imported, each with its file; none of a package with
    compiled parts, which cannot be imported twice."""
    modules = {
        name: file
        for name, module in list(sys.modules.items())
        if isinstance(file := getattr(module, "__file__", None), str)
    }
    compiled = {
        name.partition(".")[0]
        for name, file in modules.items()
        if file.endswith(tuple(EXTENSION_SUFFIXES))
    }
    return {
        name: file
        for name, file in modules.items()
        if file.endswith(".py")
        and name != "__main__"  # the program that makes the documents
        and name.partition(".")[0] not in compiled
        and is_of_project(file, folder)
    }
