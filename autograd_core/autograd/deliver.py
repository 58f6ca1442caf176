"""What happens to a gradient around a node: hooks before and after, and its reduction.

An input that was broadcast, or promoted to another dtype, gets a gradient of the output's
shape and dtype; where it is delivered it is summed and cast back.  No derivative rule knows
of broadcasting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograd_core.autograd.node import Node
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


def sum_to_shape(g: Any, shape: tuple[int, ...]) -> Any:
    """Sum a broadcast array back to ``shape``: added dimensions go, stretched ones become 1."""
    added = g.ndim - len(shape)
    if added == 1 and g.ndim == 2 and g.size > 1024 and g.dtype.itemsize > 2:
        g = np.ones(len(g), g.dtype) @ g  # BLAS adds up rows faster than NumPy
    elif added:
        g = np.add.reduce(g, axis=tuple(range(added)))
    stretched = tuple(axis for axis, size in enumerate(shape) if size == 1 and g.shape[axis] != 1)
    return np.add.reduce(g, axis=stretched, keepdims=True) if stretched else g


def _boxed(gradients: Sequence[Gradient], graph: bool) -> tuple[Any, ...]:
    if graph:
        return tuple(gradients)
    box = _bridge["tensor"]
    return tuple(None if g is None else box(g) for g in gradients)


def _unboxed(value: Any, graph: bool) -> Gradient:
    return value if graph or value is None else value.array


def before_node(node: Node, incoming: tuple[Gradient, ...], graph: bool) -> tuple[Gradient, ...]:
    """Fire the hooks that come before ``node``; they may replace what it gets."""
    hooks = node.hooks
    if hooks is None:
        return incoming
    incoming = tensor_hooks(node, incoming, graph)
    if not hooks.pre:
        return incoming
    gradients = _boxed(incoming, graph)
    for prehook in tuple(hooks.pre.values()):
        replaced = prehook(gradients)
        if replaced is not None:
            gradients = tuple(replaced) if isinstance(replaced, (tuple, list)) else (replaced,)
    return tuple(_unboxed(g, graph) for g in gradients)


def tensor_hooks(node: Node, incoming: tuple[Gradient, ...], graph: bool) -> tuple[Gradient, ...]:
    """Fire the hooks of the tensors that ``node`` made; they may replace their gradients."""
    hooks = node.hooks
    if hooks is None or not (hooks.tensor or hooks.retain):
        return incoming
    gradients = list(_boxed(incoming, graph))
    for nr, hook in tuple(hooks.tensor.values()):
        if gradients[nr] is not None:
            replaced = hook(gradients[nr])
            gradients[nr] = gradients[nr] if replaced is None else replaced
    for nr, kept in tuple(hooks.retain.items()):
        g, tensor = gradients[nr], kept()
        if g is not None and tensor is not None:
            tensor.grad = g.clone() if tensor.grad is None else tensor.grad + g
    return tuple(_unboxed(g, graph) for g in gradients)


def after_node(
    node: Node, outgoing: Sequence[Gradient], incoming: tuple[Gradient, ...], graph: bool
) -> Sequence[Gradient]:
    """Fire the hooks that come after ``node``; they may replace what it sends."""
    hooks = node.hooks
    if hooks is None or not hooks.post:
        return outgoing
    sent, received = _boxed(outgoing, graph), _boxed(incoming, graph)
    for hook in tuple(hooks.post.values()):
        replaced = hook(sent, received)
        if replaced is not None:
            sent = tuple(replaced) if isinstance(replaced, (tuple, list)) else (replaced,)
    return [_unboxed(g, graph) for g in sent]


def leaf_accumulated(node: Any) -> None:
    """Fire a leaf's post-accumulate hooks and its node's post hooks."""
    if node.hooks is None:
        return
    for hook in tuple(node.hooks.accumulated.values()):
        hook(node.variable)
    for hook in tuple(node.hooks.post.values()):
        hook((), ())
