"""Draw computation graphs and step through backward passes.

This module has the names that most programs need. ``python -m gradstep`` runs the ``gradstep``
command.

>>> import autograd_core as torch
>>> import gradstep
>>> a = torch.tensor(2.0, requires_grad=True)
>>> session = gradstep.Session(a * a + a)
>>> print(session.do("next").text)
#2 mul:1  MulBackward0  g · a, g · a
"""

from __future__ import annotations

import os
import sys

# The command begins here, and can be interrupted from here on: what takes a while to load is
# imported where it is needed, be it typing.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from autograd_core.debug import Session, check, lint, why
    from tui import debug
    from viz import film, render, to_graphviz

__all__ = ["Session", "check", "debug", "film", "lint", "render", "to_graphviz", "why"]

_FOLDER = os.path.dirname(os.path.realpath(__file__))
_HOMES = {
    "Session": "autograd_core.debug",
    "check": "autograd_core.debug",
    "debug": "tui",
    "film": "viz",
    "lint": "autograd_core.debug",
    "render": "viz",
    "to_graphviz": "viz",
    "why": "autograd_core.debug",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for; pictures and the screen take a moment to load."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if problem := shadowed():
        raise ImportError(
            f"{problem}; rename yours, or run your program by the gradstep command, which keeps "
            "both apart"
        )
    from importlib import import_module  # late, see above

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]


def shadowed() -> str:
    """Return the user's file that shadows one of gradstep's packages, which have generic names; ""
    if there is none."""
    from importlib.util import find_spec  # late, see above

    for package in ("autograd_core", "viz", "tui"):
        loaded = sys.modules.get(package)
        spec = find_spec(package) if loaded is None else loaded.__spec__
        file = None if spec is None else spec.origin
        if file is None or os.path.dirname(os.path.dirname(os.path.realpath(file))) != _FOLDER:
            return f"the package {package} that Python finds is not gradstep's but {file!r}"
    return ""


def main() -> int:
    """Run the ``gradstep`` command, and return its exit code."""
    try:
        if problem := shadowed():
            _complain(f"{problem}; move that out of the way")
            return 3
        from tui.cli import main as command  # late: whoever imports this module may need none

        return command()
    except KeyboardInterrupt:
        _complain("interrupted")
        return 130


def _complain(text: str) -> None:
    if sys.stderr is not None:
        sys.stderr.write(f"gradstep: {text}\n")


if __name__ == "__main__":
    # -m puts the current directory first, where a user may have a viz or tui of their own.
    if not sys.flags.safe_path and os.path.realpath(sys.path[0]) != _FOLDER:
        del sys.path[0]
    sys.exit(main())
