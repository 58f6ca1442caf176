"""In-place forms, derived from the op they are the in-place form of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograd_core.autograd.grad_mode import current_mode, is_grad_enabled
from autograd_core.op.saved import FREED
from autograd_core.tensor import Tensor


def inplace(call: Callable[..., Tensor], name: str) -> Callable[..., Tensor]:
    """The method ``name`` (with its underscore) that stores the result of ``call`` in its first
    argument and moves that tensor to its new place in the graph.

    Raises:
        RuntimeError: the tensor is a leaf that requires a gradient, or a view in a graph.
    """

    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if self.edge is not None and self.is_leaf and is_grad_enabled():
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation."
            )
        before = _before(self)
        result = call(before, *args, **kwargs)
        if result._shape != self._shape:
            raise RuntimeError(
                f"output with shape {list(self._shape)} doesn't match the broadcast shape "
                f"{list(result._shape)}"
            )
        if result.dtype.category > self.dtype.category:
            raise RuntimeError(
                f"result type {result.dtype.scalar_name} can't be cast to the desired output type "
                f"{self.dtype.scalar_name}"
            )
        if result.edge is not None:
            _rebase(self, before, result)
        np.copyto(self.array, result.array, casting="unsafe")
        self.bump()
        mode = current_mode()
        if mode is not None and mode.tracer is not None:
            self.record = result.record
        return self

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"In-place form of :func:`{name.rstrip('_')}`."
    return method


def _before(x: Tensor) -> Tensor:
    """``x`` as it is now, as a tensor of its own that a node may save."""
    before = Tensor()
    before.array, before._shape, before.dtype, before.edge = x.array, x._shape, x.dtype, x.edge
    before.version = None
    before.record = x.record
    return before


def _rebase(x: Tensor, before: Tensor, result: Tensor) -> None:
    if x.view_of is not None:
        raise RuntimeError(
            "an in-place operation on a view within a graph is not supported yet; "
            "use the out-of-place operation, or torch.no_grad()"
        )
    node: Any = result.edge
    saved = node.op.saved
    for name in saved:
        value = getattr(node, name)
        if value is before:
            # The rule needs the data from before the change.
            value.array = x.array.copy()
        elif name in node.op.outputs and value is not FREED:
            # The rule needs the result, which from now on lives in x.
            if x.version is None:
                x.version = [0]
            setattr(node, name, result.array)
    x.edge = result.edge
