"""The nodes that run the user's code, and so may do anything."""

from __future__ import annotations

from autograd_core.autograd.node import Node
from autograd_core.op.packed import nodes_with_packed


def runs_user_code(node: Node) -> bool:
    """Return whether ``node`` calls hooks, is a custom Function, or reads saved values that the
    user's hooks bring back."""
    hooks = node.hooks
    if hooks is not None and (hooks.tensor or hooks.pre or hooks.post or hooks.accumulated):
        return True
    inner: Node = getattr(node, "inner", node)  # of a change through a view
    return inner.runs_undefined or inner in nodes_with_packed
