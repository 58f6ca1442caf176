"""The edges between the halves: from where a value was made to the node that keeps it."""

from __future__ import annotations

from collections.abc import Callable

from autograd_core.autograd.node import Node as GradFn
from autograd_core.autograd.node import resolve
from autograd_core.dag.builder import GraphBuilder
from autograd_core.dag.capture.rules import dtype_name
from autograd_core.dag.names import Names
from autograd_core.op.packed import Packed
from autograd_core.op.saved import SavedNode
from autograd_core.tensor import Tensor


def add_saved(
    build: GraphBuilder,
    node: GradFn,
    forward: int,
    backward: int,
    producer_of: Callable[[Tensor | Packed], int | None],
    forward_of: Callable[[GradFn], int | None],
    names: Names,
) -> None:
    """Link what ``node`` keeps to where it came from: an input's producer, or its own op; what it
    kept until it was freed, as far as the graph still tells."""
    for name, value, state in node.saved():
        if value is None:
            source = _maker_of(node, name, forward, forward_of)
            if source is not None:
                build.edge("saved", source, backward, label=name)
            continue
        producer, label, array = forward, name, value
        if isinstance(value, Tensor) or (isinstance(value, Packed) and not value.is_result):
            source = producer_of(value)
            if source is None and state == "changed":  # the tensor goes by its later history
                source = _maker_of(node, name, forward, forward_of)
            if source is None:
                continue
            producer = source
            label = names.placeholder(name)
        if isinstance(value, Tensor):
            label, array = names.of(value) or label, value.array
        build.edge(
            "saved",
            producer,
            backward,
            shape=array.shape,
            dtype=dtype_name(array.dtype),
            label=label,
            nbytes=array.nbytes,
        )


def _maker_of(
    node: GradFn, name: str, forward: int, forward_of: Callable[[GradFn], int | None]
) -> int | None:
    """Find where a value came from that ``node`` no longer keeps as it was: by the name of the
    input, whose edge is still there; a constant has none."""
    if name == "ans":
        return forward
    if not isinstance(node, SavedNode) or name not in node.op.edges or node.op.variadic:
        return None
    maker = resolve(node.edges[node.op.edges.index(name)])[0]
    return None if maker is None else forward_of(maker)
