"""In-place forms of views: the tensor itself looks at its memory in another way from now on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.grad_mode import builds_graph
from autograd_core.op.second_nodes import renamed
from autograd_core.op.views import check_change
from autograd_core.tensor import Tensor, blank


def inplace_view(call: Callable[..., Tensor], name: str) -> Callable[..., Tensor]:
    """The method ``name`` (with its underscore) by which a tensor becomes the view of itself that
    ``call`` gives.

    Raises:
        RuntimeError: the tensor is a leaf that requires a gradient, or a view of one; or there
            are views of it, which would have to be told.
    """

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if builds_graph():
            check_change(self)
        if any(each() is not None for each in getattr(self, "_views", ())):
            raise RuntimeError(
                f"{name}(): there are views of this tensor, whose way from it would change; use "
                f"{name.rstrip('_')}(), which leaves the tensor as it is"
            )
        result = call(_before(self), *args, **kwargs)
        self.array, self._shape = result.array, result._shape
        if self.view_of is not None:
            self.view_of = result.view_of
        if type(self.edge) is AccumulateGrad:
            self.edge.array = result.array
        elif result.edge is not None:
            node: Any = result.edge
            made: Any = type(node)
            node.__class__ = renamed(made)
            self.edge = node
        self.bump()
        return self

    method.__name__ = method.__qualname__ = name
    method.__wrapped__ = call  # type: ignore[attr-defined]  # so it has the signature of `call`
    method.__doc__ = f"In-place form of :func:`{name.rstrip('_')}`."
    return method


def _before(x: Tensor) -> Tensor:
    """``x`` as it is now: the way from its base to what it becomes goes by this."""
    before = blank()
    before.array, before._shape, before.dtype, before.edge = x.array, x._shape, x.dtype, x.edge
    before.version, before.record = x.version, x.record
    if x.view_of is not None:
        before.view_of = x.view_of
    return before
