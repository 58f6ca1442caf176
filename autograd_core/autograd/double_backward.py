"""The derivative of a derivative: rules called with tensors instead of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograd_core.autograd.dual import restore_tangent
from autograd_core.autograd.held import held
from autograd_core.autograd.node import FREED, NOT_SAVED, ONE_EDGE, output_edge
from autograd_core.autograd.packed import Packed
from autograd_core.autograd.saved import SavedNode, changed, freed, watched
from autograd_core.tensor import Tensor


def differentiate(node: SavedNode, g: Any) -> Any:
    """Run ``node`` on tensors, so that ops inside its rules build the graph of the result."""
    op = node.op
    edges = node.edges
    if isinstance(g, list):
        g = _materialized(node, g)
    if op.variadic:
        return op.rules[op.variadic].function(*_arguments(node, op.variadic, g))
    if op.joint is not None:
        needs = tuple(edge is not None for edge in edges)
        gradients = op.joint.function(*_arguments(node, op.edges[0], g, needs))
        return gradients[0] if node.kind == ONE_EDGE else gradients
    gradients = tuple(
        None if edge is None else op.on_tensors(name)(*_arguments(node, name, g))
        for name, edge in zip(op.edges, edges, strict=True)
    )
    return gradients[0] if node.kind == ONE_EDGE else gradients


def _arguments(node: SavedNode, edge: str, g: Any, needs: tuple[bool, ...] = ()) -> list[Any]:
    op = node.op
    return [
        g if name == "g" else needs if name == "needs" else saved_tensor(node, name)
        for name in op.rule(edge).names
    ]


def saved_tensor(node: SavedNode, name: str) -> Any:
    """Return a saved value as a tensor within its graph; an attribute or shape as it is."""
    value = getattr(node, name)
    op = node.op
    if name in op.held:
        return held(node, name)
    if name not in op.saved:
        return value
    if value is FREED or value is NOT_SAVED:
        raise freed(node)
    if value is not None and node.state(name) == "changed":
        raise changed(node, name)
    if isinstance(value, Packed):
        if name not in op.outputs:
            return value.tensor()
        value = value.array
    if name not in op.outputs:
        return value
    # A saved result was kept as an array, lest node and result hold each other; in the graph
    # it is this node's output.
    tensor = Tensor.from_array(np.asarray(value))
    tensor.version = watched(node, name)[0]
    differentiable = op.differentiable_outputs
    if name in differentiable:
        tensor.edge = output_edge(node, differentiable.index(name))
    elif node.record is not None:  # where no edge tells whose result it is
        tensor.record = (node.record, op.output_numbers[name])
    return restore_tangent(node, name, tensor)


def _materialized(node: Any, g: list[Any]) -> list[Any]:
    like = next(gradient for gradient in g if gradient is not None)
    return [
        Tensor.from_array(np.zeros(shape, like.array.dtype)) if gradient is None else gradient
        for gradient, shape in zip(g, node.output_shapes, strict=True)
    ]
