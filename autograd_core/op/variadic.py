"""The call of an op on a list of tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograd_core.autograd.dual import Dual
from autograd_core.autograd.forward_mode import forward
from autograd_core.autograd.grad_mode import current_mode
from autograd_core.autograd.node import next_sequence_nr
from autograd_core.dtype import dtype, result_type
from autograd_core.op.generic import box
from autograd_core.op.modes import node_made, results_made
from autograd_core.op.record import Op
from autograd_core.op.refusals import bad_dimension
from autograd_core.tensor import Tensor


def variadic_call(op: Op) -> Callable[..., Tensor]:
    """Return the call of an op on a list of tensors: ``cat([a, b], dim=0)``."""
    rule = op.rules[op.variadic].function if op.variadic in op.rules else None
    kernel, name = op.kernel, op.public_name
    shapes = f"{op.variadic}_shape"
    contiguous = op.layout == "contiguous"

    def call(tensors: Sequence[Tensor], *args: Any, **attributes: Any) -> Any:
        if isinstance(tensors, Tensor):
            raise TypeError(
                f"{name}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor"
            )
        tensors = tuple(tensors)
        attributes = {**op.attributes, **dict(zip(op.attributes, args, strict=False)), **attributes}
        if not any(isinstance(t, Tensor) for t in tensors):
            return kernel(*tensors, **attributes)
        for position, t in enumerate(tensors):
            if not isinstance(t, Tensor):
                raise TypeError(
                    f"expected Tensor as element {position} in argument 0, "
                    f"but got {type(t).__name__}"
                )
            if type(t) is Dual:
                return forward(op, tensors, attributes)
        mode = current_mode()
        if mode is not None and mode.profiler is not None:
            mode.profiler.begin()
        kind = result_type(*((t.dtype, 2) for t in tensors))
        try:
            array = kernel(*(_as(kind, tensor) for tensor in tensors), **attributes)
        except np.exceptions.AxisError as error:
            raise bad_dimension(error, op, tensors[0], attributes) from None
        if contiguous and not array.flags.c_contiguous:
            array = array.copy()
        t = box(array)
        node = None
        edges = tuple(tensor.edge for tensor in tensors)
        if rule is None or not any(edges) or (mode is not None and not mode.builds):
            t.edge = None
        else:
            node = op.node_class()
            node.all_edges = edges
            node.sequence_nr = next_sequence_nr()
            node.notes = None
            node.output_shape, node.output_dtype = t._shape, t.dtype
            to = [
                None if tensor.dtype is kind else (tensor._shape, tensor.dtype)
                for tensor in tensors
            ]
            node.to = to if any(to) else None
            for plain in op.saved_plain:
                value = (
                    [tensor._shape for tensor in tensors] if plain == shapes else attributes[plain]
                )
                setattr(node, plain, value)
            t.edge = node
            if mode is not None:
                node_made(node, mode)
        if mode is not None:
            results_made(mode, name, tensors, attributes, (t,), node)
        return t

    return call


def _as(kind: dtype, t: Tensor) -> Any:
    return t.array if t.dtype is kind else t.array.astype(kind.dtype)
