"""Tells this program's own source files from the user's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent.parent
"""Where the packages of this program are."""

OWN_FILES: Final = (
    "<op ",  # code that is generated when an op first runs
    *(f"{FOLDER / package}{os.sep}" for package in ("autograd_core", "viz", "tui")),
    str(FOLDER / "gradstep.py"),
)
"""How the names of this program's own files begin, as frames and tracebacks give them."""


def is_own_file(file: str) -> bool:
    """Return whether ``file``, as a frame or a traceback names it, is this program's own.

    >>> is_own_file(__file__), is_own_file("train.py")
    (True, False)
    """
    return file.startswith(OWN_FILES)
