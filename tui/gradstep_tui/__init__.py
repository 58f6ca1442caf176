"""The terminal: the ``gradstep`` command and the full-screen debugger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gradstep.text import suggests

if TYPE_CHECKING:
    from autograd_core.tensor import Tensor

__all__ = ["debug"]


@suggests
def debug(
    obj: Tensor | Sequence[Tensor],
    gradient: Tensor | Sequence[Tensor | None] | None = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """Open the debugger on the backward pass of ``obj``, in place of ``obj.backward()``.

    If you leave with ``q``, the pass runs to its end and the program continues. If you leave with
    ``Q``, every ``.grad`` is restored and the program ends with SystemExit.

    Raises:
        RuntimeError: as ``backward`` does, or if no screen can open.
    """
    # late: the command imports this package too, and may need neither
    from gradstep.console.session import Session
    from gradstep_tui.terminal import show_screen, why_no_screen

    if problem := why_no_screen():
        raise RuntimeError(f"{problem}; gradstep.Session does the same without one")
    session = Session(obj, gradient, retain_graph=retain_graph, create_graph=create_graph)
    if show_screen(session) == "abort":
        session.abort()
        raise SystemExit(0)
    session.finish()
