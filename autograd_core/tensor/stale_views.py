"""Views that no change in place may reach within a graph, as PyTorch has it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Final, NoReturn

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.grad_mode import Creation, builds_graph
from autograd_core.autograd.node import Edge, resolve
from autograd_core.autograd.saved import maker
from autograd_core.tensor import Tensor

_edge: Final[Any] = vars(Tensor)["edge"]  # the slot, which stale views hide
edge_of: Final[Callable[[Tensor], Edge]] = _edge.__get__  # also of a stale view

_REMEDIES: Final[dict[Creation, str]] = {
    "several": "This view is the output of a function that returns multiple views. Such functions "
    "do not allow the output views to be modified inplace. You should replace the inplace "
    "operation by an out-of-place one.",
    "function": "This view was created inside a custom Function (or because an input was returned "
    "as-is) and the autograd logic to handle view+inplace would override the custom backward "
    "associated with the custom Function, leading to incorrect gradients. This behavior is "
    "forbidden. You can fix this by cloning the output of the custom Function.",
}


def creation_of(x: Tensor) -> Creation:
    """Return where the view ``x`` was made; if that was in the usual way, what it is a view of."""
    while (view := x.view_of) is not None:
        creation: Creation = view.creation
        if creation != "usual":
            return creation
        if view.op.view == "each":
            return "several"
        x = view.base
    return "usual"


def modification_error(x: Tensor, creation: Creation, what: str) -> RuntimeError:
    """Return PyTorch's error for a view of such a ``creation``; ``what`` says what has happened to
    it."""
    edge = edge_of(x)
    node, output_nr = (None, 0) if type(edge) is AccumulateGrad else resolve(edge)
    output = "" if node is None else f"Output {output_nr} of {maker(node)}"
    if output and creation in _REMEDIES:
        return RuntimeError(
            f"{output} is a view and {what} modified inplace. {_REMEDIES[creation]}"
        )
    view = f"{output} is a view of a view which" if output else "A view"
    inference = creation == "inference"
    mode = "inference" if inference else "no_grad"  # none else leaves a view without a node
    other = "in normal mode" if inference else "with grad mode enabled"
    remedy = _REMEDIES.get(creation) or (
        "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
        "your code by moving both the view and the inplace either both inside the "
        f"{'inference_mode' if inference else 'no_grad'} block (if you don't want the inplace to "
        "be tracked) or both outside (if you want the inplace to be tracked)."
    )
    return RuntimeError(
        f"{view} was created in {mode} mode and {what} modified inplace {other}. {remedy}"
    )


def make_stale(x: Tensor) -> None:
    """Refuse to use the view ``x`` in a graph from now on: its memory was changed by way of another
    tensor, and its way through the graph cannot tell how."""
    x.__class__ = _stale(type(x))


@cache
def _stale(kind: type[Any]) -> Any:
    """Return the class of stale views that were of class ``kind``."""
    if issubclass(kind, _Stale):
        return kind
    body = {"__slots__": (), "__module__": kind.__module__}
    metaclass: Any = type(kind)
    return metaclass(kind.__name__, (_Stale, kind), body)


class _Stale(Tensor):
    """A stale view.

    Ops test for exactly Tensor, and leave all else to the slow path, which reads the edge: other
    tensors pay nothing for there being such views.
    """

    __slots__ = ()

    @property
    def edge(self) -> Any:
        if builds_graph():
            self._refuse()
        return edge_of(self)

    @edge.setter
    def edge(self, place: Any) -> None:
        _edge.__set__(self, place)

    @property
    def grad_fn(self) -> NoReturn:
        self._refuse()

    @property
    def requires_grad(self) -> bool:
        return True

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        pass

    @property
    def grad(self) -> Any:
        return getattr(self, "_grad", None)

    @grad.setter
    def grad(self, g: Tensor | None) -> None:
        self._grad = g

    def _refuse(self) -> NoReturn:
        raise modification_error(
            self, creation_of(self), "its base or another view of its base has been"
        )
