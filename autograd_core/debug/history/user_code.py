"""The nodes that run the user's code, and so may do anything; and what of that is not undone."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_core.autograd.node import Node
from autograd_core.dag.addresses import step_number
from autograd_core.op.packed import nodes_with_packed


def runs_user_code(node: Node) -> bool:
    """Return whether ``node`` calls hooks, is a custom Function, or reads saved values that the
    user's hooks bring back."""
    hooks = node.hooks
    if hooks is not None and (hooks.tensor or hooks.pre or hooks.post or hooks.accumulated):
        return True
    inner: Node = getattr(node, "inner", node)  # of a change through a view
    return inner.runs_undefined or inner in nodes_with_packed


def put_back_text(indices: Sequence[int], called: str) -> str:
    """Tell how much of what user code at nodes ``indices`` did is undone, and what is not;
    ``called`` says why it matters: "are called again"."""
    nodes = ", ".join(step_number(index) for index in indices[:8])
    more = f" and {len(indices) - 8} more" if len(indices) > 8 else ""
    return (
        f"the hooks or Functions of {nodes}{more} {called}: .grad, tensors, modules, optimizers "
        "and random state are put back; what they changed elsewhere (other Python objects, "
        "files, NumPy arrays) is not"
    )
