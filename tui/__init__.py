"""The terminal: the ``gradstep`` command and the full-screen debugger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograd_core.tensor import Tensor

__all__ = ["debug"]


def debug(
    obj: Tensor | Sequence[Tensor],
    gradient: Tensor | Sequence[Tensor | None] | None = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
) -> None:
    """Open the debugger on the backward pass of ``obj``, in place of ``obj.backward()``.

    Returns when the screen is left with ``q``, after the pass has run to its end; left with
    ``Q``, every ``.grad`` is as it was before.
    """
    from autograd_core.debug.session import Session
    from tui.app import DebuggerApp

    session = Session(obj, gradient, retain_graph=retain_graph, create_graph=create_graph)
    if DebuggerApp(session).run() == "abort":
        session.abort()
    else:
        session.finish()
