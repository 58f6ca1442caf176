"""Reduce gradients to the shapes and dtypes of the inputs they are for.

The rule of an op gives an input that was broadcast, or promoted to another dtype, a gradient of
the output's shape and dtype; the engine sums and casts it back.  No rule knows of broadcasting.
What a custom Function returns is checked here, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from autograd_core.autograd.node import Edge, Node, resolve
from autograd_core.dtype import dtype

Gradient = Any  # an array, a tensor under create_graph, or None


def reduce_gradient(g: Gradient, to: tuple[tuple[int, ...], dtype] | None) -> Gradient:
    """Sum ``g`` to the shape and cast it to the dtype of the input it belongs to."""
    if g is None or to is None:
        return g
    shape, kind = to
    if isinstance(g, (np.ndarray, np.generic)):
        if g.shape != shape:
            g = sum_to_shape(g, shape)
        return g if g.dtype == kind.dtype else g.astype(kind.dtype)
    if g.array.shape != shape:
        g = g.sum_to_size(shape)
    return g if g.dtype is kind else g.to(kind)


def reduce_outgoing(node: Node, outgoing: Sequence[Gradient]) -> Sequence[Gradient]:
    """Reduce what ``node`` returned, one gradient per edge; None for an edge to nowhere."""
    pairs = zip(node.edges, outgoing, strict=True)
    if node.runs_undefined:  # its hooks see what it gave for inputs that need nothing, too
        return [validate_gradient(node, nr, edge, g) for nr, (edge, g) in enumerate(pairs)]
    if node.to is None:
        return [None if edge is None else g for edge, g in pairs]
    return [
        None if edge is None else reduce_gradient(g, to)
        for (edge, g), to in zip(pairs, node.to, strict=True)
    ]


def validate_gradient(node: Node, number: int, edge: Edge, g: Gradient) -> Gradient:
    """Check ``g``, which a custom Function gave for its input ``number``, and reduce it.

    Raises:
        RuntimeError: it cannot be summed to the shape of the input.
    """
    target, nr = resolve(edge)
    if g is None or target is None:
        return g
    expected = target._input_metadata[nr]
    if not _expands(expected.shape, g.shape):
        raise RuntimeError(
            f"Function {node.name()} returned an invalid gradient at index {number} - got "
            f"{list(g.shape)} but expected shape compatible with {list(expected.shape)}"
        )
    return reduce_gradient(g, (expected.shape, expected.dtype))


def _expands(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    if len(shape) > len(to):
        return False
    return all(size in (1, large) for size, large in zip(shape[::-1], to[::-1], strict=False))


_KEPT: Final = 1 << 12
_kept_ones: dict[Any, Any] = {}


def _ones(count: int, kind: Any) -> Any:
    """So many ones, to be read only; kept, as making them takes as long as the product."""
    if count > _KEPT:
        return np.ones(count, kind)
    ones = _kept_ones.get(kind)
    if ones is None:
        ones = _kept_ones[kind] = np.ones(_KEPT, kind)
    return ones[:count]


def sum_to_shape(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum a broadcast array back to ``shape``: added dimensions go, stretched ones become 1."""
    added = g.ndim - len(shape)
    if added == 1:
        if g.ndim == 2 and g.size > 1024 and g.dtype.itemsize > 2:
            g = _ones(len(g), g.dtype).dot(g)  # BLAS adds up rows faster than NumPy
        else:
            g = np.add.reduce(g, 0)
    elif added:
        g = np.add.reduce(g, axis=tuple(range(added)))
    if g.shape == shape or 1 not in shape:
        return g
    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and g.shape[axis] != 1)
    return np.add.reduce(g, axis=stretched, keepdims=True) if stretched else g
