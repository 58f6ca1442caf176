"""Nodes of PyTorch called from Python, one by one, for what they were given before.

A call of a node runs its rule and nothing else: no hooks, no checks, nothing is freed.  What the
engine does between two nodes is done here: gradients are summed to the shape of the input, and get
its dtype.
"""

from __future__ import annotations

from collections.abc import Container, Sequence, Set
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from gradstep.contract.driver import OnStep, Pending
from gradstep.engines.pytorch.calls import TorchCall
from gradstep.engines.pytorch.order import owner
from gradstep.engines.pytorch.private import (
    TensorBase,
    functions,
    grad_enabled,
    metadata_of,
    unobserved,
)
from gradstep.engines.pytorch.tensors import added
from gradstep.records import LEAF, Delivery, Port, Step


def call_node(node: Any, gradients: Sequence[Any]) -> tuple[Any, ...]:
    """Return what a node makes of ``gradients``, one for each of its edges, as the engine would
    send it.

    Raises:
        Exception: whatever the node raises; a custom Function runs code of the program's.
    """
    origin: Any = node.origin
    if node.is_function:
        given = [
            functions.zeros(list(like.shape), dtype=like.dtype, device=like.device)
            if g is None
            else g
            for g, like in zip(gradients, metadata_of(origin), strict=True)
        ]
        sent = _listed(origin.apply(*given))
        # one for each argument of forward(), of which those that are tensors have edges
        wanted = [g for g, needed in zip(sent, origin.needs_input_grad, strict=False) if needed]
        following = iter(wanted)
        sent = tuple(
            None if to is None else next(following, None) for to, _ in origin.next_functions
        )
    else:
        sent = _listed(origin(*gradients))
    return tuple(map(_fitted, sent, node.edges))


def _listed(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def _fitted(gradient: Any, edge: Any) -> Any:
    if gradient is None or edge is None:
        return None
    like = metadata_of(owner(edge).origin)[edge.nr if isinstance(edge, Port) else 0]
    if like.is_nested_tensor:
        return gradient
    shape = tuple(like.shape)  # a list, which no shape equals
    if gradient.shape != shape:
        gradient = TensorBase.sum_to_size(gradient, shape)
    if gradient.dtype is not like.dtype:
        real = TensorBase.is_complex(gradient) and not like.dtype.is_complex
        gradient = TensorBase.to(gradient.real if real else gradient, like.dtype)
    return gradient if gradient.device == like.device else TensorBase.to(gradient, like.device)


def call_in_pass(node: Any, gradients: Sequence[Any], nodes: Container[Any]) -> tuple[Any, ...]:
    """As :func:`call_node`, in a pass of ``nodes``."""
    return within_pass(call_node(node, gradients), node.edges, nodes)


def within_pass(
    sent: Sequence[Any], edges: Sequence[Any], nodes: Container[Any]
) -> tuple[Any, ...]:
    """Return what is sent within a pass of ``nodes``: for what leads out of it nobody asked."""
    return tuple(
        None if edge is None or owner(edge) not in nodes else g
        for g, edge in zip(sent, edges, strict=True)
    )


@dataclass
class NodeReplay:
    """A pass that goes its own way from ``pending``, and changes nothing of the program; of what
    arrives at the places ``wanted``, its steps tell as taken by ``grad``."""

    call: TorchCall
    order: Sequence[Any]
    pending: Pending
    nodes: Container[Any]
    muted: Set[tuple[int, int]] = frozenset()
    wanted: Container[Any] = ()

    def record(self, start: int, stop: int, on_step: OnStep) -> None:
        """Run nodes ``start`` to ``stop`` again, none of them a leaf's."""
        for index in range(start, stop):
            node = self.order[index]
            began = perf_counter()
            incoming = take(self.pending, node)
            captured = arrived(node, incoming, self.wanted)
            with unobserved(), grad_enabled(self.call.graph):
                sent = call_in_pass(node, incoming, self.nodes)
                deliveries = tuple(
                    deliver(self.pending, nr, edge, None if (index, nr) in self.muted else g)
                    for nr, (edge, g) in enumerate(zip(node.edges, sent, strict=True))
                )
            if not on_step(
                Step(index, node, incoming, incoming, deliveries, captured=captured),
                perf_counter() - began,
            ):
                return

    def redo(self, step: Step) -> None:
        """Take what a node that ran did from its record."""
        take(self.pending, step.node)
        for delivery in step.deliveries:
            if delivery.edge is not None:
                self.pending[delivery.edge] = delivery.after


def replays(node: Any) -> bool:
    """Return whether a node can be called again without code of the program's running."""
    if node.kind == LEAF or node.opaque or node.is_function:
        return False
    return all(state == "kept" for _, _, state in node.saved())


def places_of(node: Any) -> list[Any]:
    """Return the input buffers of a node."""
    if node.output_count > 1:
        return [Port(node, nr) for nr in range(node.output_count)]
    return [node]


def take(pending: Pending, node: Any) -> tuple[Any, ...]:
    """Take what waits at a node."""
    places = places_of(node)
    incoming = tuple([pending.get(place) for place in places])
    pending.update(dict.fromkeys(places))
    return incoming


def arrived(
    node: Any, gradients: Sequence[Any], wanted: Container[Any]
) -> tuple[tuple[Any, Any], ...]:
    """Return those of the ``gradients`` of a node that are at places ``wanted``, with these."""
    pairs = zip(places_of(node), gradients, strict=False)
    return tuple((place, g) for place, g in pairs if place in wanted)


def deliver(pending: Pending, nr: int, edge: Any, gradient: Any) -> Delivery:
    """Add a gradient to what waits where edge ``nr`` leads."""
    if edge is None:
        return Delivery(nr, None, None, None, None)
    before = pending.get(edge)
    if gradient is None:
        return Delivery(nr, edge, None, before, before)
    after = pending[edge] = gradient if before is None else added(before, gradient)
    return Delivery(nr, edge, gradient, before, after)
