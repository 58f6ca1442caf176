"""The cells of a notebook, which have no file."""

from __future__ import annotations

import sys
from typing import Any, Final

_CELL: Final = "Cell In["


def cell_name(number: int) -> str:
    """Return the name of a cell, as IPython calls it in tracebacks.

    >>> cell_name(3)
    'Cell In[3]'
    """
    return f"{_CELL}{number}]"


def is_cell(name: str) -> bool:
    """Return whether a name is that of a cell."""
    return name.startswith(_CELL)


def cell_of(file: str) -> str:
    """Return the name of the cell that IPython compiled as ``file``, "" of other files."""
    if is_cell(file):
        return file
    shell: Any = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    label = getattr(getattr(shell, "compile", None), "format_code_name", lambda _: None)(file)
    return " ".join(label) if label else ""


def place_in(name: str, line: int) -> str:
    """Return where a line is.

    >>> place_in("train.py", 2), place_in("Cell In[3]", 2)
    ('train.py:2', 'Cell In[3], line 2')
    """
    return f"{name}, line {line}" if is_cell(name) else f"{name}:{line}"
