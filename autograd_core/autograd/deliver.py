"""How a gradient comes to fit the place it is delivered to.

An input that was broadcast, or promoted to another dtype, gets a gradient of the output's
shape and dtype; where it is delivered it is summed and cast back.  No derivative rule knows
of broadcasting.  What a custom Function gives is checked here, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.autograd.node import Edge, Node, resolve
from autograd_core.dtype import dtype

Gradient = Any
_bridge: dict[str, Any] = {}  # what lives above: "tensor" boxes an array, "sum_to", "cast", "stack"


def connect(**functions: Any) -> None:
    """Let the op table, which is built on the nodes, lend its ops to the engine below it."""
    _bridge.update(functions)


def lent(name: str) -> Any:
    """One of these ops."""
    return _bridge[name]


def reduce_gradient(g: Gradient, to: tuple[tuple[int, ...], dtype] | None) -> Gradient:
    """``g`` summed to the shape and cast to the dtype of the input it belongs to."""
    if g is None or to is None:
        return g
    shape, kind = to
    if isinstance(g, (np.ndarray, np.generic)):
        if g.shape != shape:
            g = sum_to_shape(g, shape)
        return g if g.dtype == kind.dtype else g.astype(kind.dtype)
    if g.array.shape != shape:
        g = _bridge["sum_to"](g, shape)
    return g if g.dtype is kind else _bridge["cast"](g, kind)


def validated(node: Node, number: int, edge: Edge, g: Gradient) -> Gradient:
    """``g``, which a custom Function gave for its input ``number``, as ``edge`` wants it.

    Raises:
        RuntimeError: it cannot be summed to the shape of the input.
    """
    target, nr = resolve(edge)
    if g is None or target is None:
        return g
    wanted = target._input_metadata[nr]
    if not _expands(wanted.shape, g.shape):
        raise RuntimeError(
            f"Function {node.name()} returned an invalid gradient at index {number} - got "
            f"{list(g.shape)} but expected shape compatible with {list(wanted.shape)}"
        )
    return reduce_gradient(g, (wanted.shape, wanted.dtype))


def _expands(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    if len(shape) > len(to):
        return False
    return all(size in (1, large) for size, large in zip(shape[::-1], to[::-1], strict=False))


def sum_to_shape(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum a broadcast array back to ``shape``: added dimensions go, stretched ones become 1."""
    added = g.ndim - len(shape)
    if added == 1 and g.ndim == 2 and g.size > 1024 and g.dtype.itemsize > 2:
        g = np.ones(len(g), g.dtype) @ g  # BLAS adds up rows faster than NumPy
    elif added:
        g = np.add.reduce(g, axis=tuple(range(added)))
    if 1 not in shape:
        return g
    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and g.shape[axis] != 1)
    return np.add.reduce(g, axis=stretched, keepdims=True) if stretched else g
