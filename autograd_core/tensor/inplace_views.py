"""In-place forms of view ops: the tensor itself becomes the view."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.grad_mode import USUAL, builds_graph, enter_mode, leave_mode, undo_log
from autograd_core.op.record import Op
from autograd_core.tensor import Tensor, ViewOrigin
from autograd_core.tensor.inplace import inplace_class
from autograd_core.tensor.views import (
    check_change,
    live_views,
    regenerate_grad_fn,
    register_view,
    snapshot,
)


def inplace_view(call: Callable[..., Tensor], name: str) -> Callable[..., Tensor]:
    """Return the method ``name`` (with its underscore) by which a tensor becomes the view of itself
    that ``call`` gives.

    Raises:
        RuntimeError: the tensor is a leaf that requires a gradient, or a view of one; or there
            are views of it, to which no view leads back from what it becomes.
    """

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if builds_graph():
            check_change(self)
        before = _before(self)
        result = call(before, *args, **kwargs)
        views = live_views(self)
        if views:
            _lead_over(views, self, before if self.view_of else _way_back(self, result, name))
        self.bump()
        self.array, self._shape = result.array, result._shape
        if self.view_of is not None:
            self.view_of = result.view_of
        if type(self.edge) is AccumulateGrad:
            self.edge.array = result.array
        elif result.edge is not None and builds_graph():
            node: Any = result.edge
            if node.inplace_node:
                kind: Any = type(node)
                node.__class__ = inplace_class(kind)
            self.edge = node
        if self.view_of is None and self.edge is not None:
            for view in views:
                regenerate_grad_fn(view, self)
        return self

    method.__name__ = method.__qualname__ = name
    method.__wrapped__ = call  # type: ignore[attr-defined]  # so it has the signature of `call`
    method.__doc__ = f"In-place form of :func:`{name.rstrip('_')}`."
    return method


def _before(x: Tensor) -> Tensor:
    """Return ``x`` as it is now: the way from its base to what it becomes goes by this."""
    before = snapshot(x)
    if x.view_of is not None:
        before.view_of = x.view_of
    return before


def _lead_over(views: Sequence[Tensor], x: Tensor, old: Tensor) -> None:
    """Let those of ``views`` that were made from ``x`` be made from ``old``, which is as it was
    and, should its own base become a view too, has to be led over like them."""
    for view in views:
        if view.view_of.base is x:
            if (log := undo_log()) is not None:
                log.keep_fields(view)
            view.view_of = view.view_of._replace(base=old)
    register_view(old)


def _way_back(x: Tensor, result: Tensor, name: str) -> Tensor:
    """Return what ``x`` was, as a view of the ``result`` that it becomes, one step from it.

    What undoes a view that loses nothing is its own derivative rule.
    """
    view: ViewOrigin = result.view_of
    token = enter_mode(USUAL)
    try:
        back: Tensor = _pull_back(
            view.op, view.attributes, x._shape, start := Tensor.from_array(result.array)
        )
    finally:
        leave_mode(token)
    if back.view_of is None or back.view_of.base is not start:
        raise RuntimeError(
            f"{name}(): there are views of this tensor, whose way from it would change; use "
            f"{name.rstrip('_')}(), which leaves the tensor as it is"
        )
    back.view_of = back.view_of._replace(base=x)
    return back


def _pull_back(op: Op, attributes: dict[str, Any], shape: tuple[int, ...], g: Any) -> Any:
    """Return the gradient of the base of a view, from that of the view: the view's own rule."""
    (edge,) = op.edges
    known = {"g": g, f"{edge}_shape": shape, **op.attributes, **attributes}
    return op.rules[edge].function(*(known[name] for name in op.rules[edge].names))
