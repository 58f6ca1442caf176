"""Views that no change in place may reach within a graph, as PyTorch has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from autograd_core.autograd.node import Edge, Node, next_sequence_nr
from autograd_core.tensor import Tensor, View


def why_refused(steps: Sequence[View], output_nr: int, what: str) -> str | None:
    """PyTorch's reason to refuse a view, which ``steps`` lead to, if it is one of several that were
    made at once, or was made without gradients; ``what`` says what has happened to it."""
    for made in steps:
        if made.op.view == "each":
            maker = made.op.node_name.partition("Backward")[0]
            return (
                f"Output {output_nr} of {maker} is a view and {what}. This view is the output of "
                "a function that returns multiple views. Such functions do not allow the output "
                "views to be modified inplace. You should replace the inplace operation by an "
                "out-of-place one."
            )
        if not made.grad_mode:
            return (
                f"A view was created in no_grad mode and {what} with grad mode enabled. Given that "
                "this use case is ambiguous and error-prone, it is forbidden. You can clarify your "
                "code by moving both the view and the inplace either both inside the no_grad block "
                "(if you don't want the inplace to be tracked) or both outside (if you want the "
                "inplace to be tracked)."
            )
    return None


class StaleView(Node):
    """Where the gradient of such a view goes once its memory was changed by way of another tensor.

    The data of the view have changed with it, but not its way through the graph.  PyTorch refuses
    when the view is used next; here the pass does that arrives at this node.
    """

    __slots__ = ("reason",)

    def __init__(self, view: Tensor, base: Edge, reason: str) -> None:
        self.i0 = base
        self.sequence_nr = next_sequence_nr()
        self.hooks = None
        self.output_shape, self.output_dtype = view._shape, view.dtype
        self.reason = reason

    def backward(self, g: Any, keep: bool) -> NoReturn:
        raise RuntimeError(self.reason)

    def backward_graph(self, g: Any) -> NoReturn:
        raise RuntimeError(self.reason)
