"""Saved values: on the boxes of the nodes that keep them, and as edges between the halves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autograd_core.autograd.node import resolve
from autograd_core.dag.builder import GraphBuilder
from autograd_core.dag.model import SavedValue, Source
from autograd_core.dag.names import Names
from autograd_core.engines.protocol import OWN_RESULT, Engine, SavedState
from autograd_core.engines.protocol import Node as GradFn

Kept = tuple[str, Any, SavedState]
"""One thing that a node keeps, as :meth:`Node.saved` tells it."""


def saved_values(
    engine: Engine, node: GradFn, kept: Iterable[Kept], storages: dict[int, int] | None = None
) -> Iterator[SavedValue]:
    """List what ``node`` keeps, without the numbers that its op was called with.

    ``storages`` numbers the memory behind the values of several nodes by where it begins, so
    that a tensor and its transpose are one, and slices of a tensor several.
    """
    for name, value, state in kept:
        lines: tuple[Source, ...] = ()
        if state == "changed":
            lines = tuple(Source(*at) for at in node.changed_at(name))
        elif state == "freed" and node.freed_at is not None:
            lines = (Source(*node.freed_at),)
        if value is None:
            yield SavedValue(name, None, "", 0, state, None, lines)
        elif (known := engine.extent(value)) is not None:
            storage = None
            if storages is not None and known.storage is not None:
                storage = storages.setdefault(known.storage, len(storages))
            yield SavedValue(name, known.shape, known.dtype, known.nbytes, state, storage, lines)


def add_saved(
    build: GraphBuilder,
    engine: Engine,
    node: GradFn,
    forward: int,
    backward: int,
    producer_of: Callable[[Any], int | None],
    forward_of: Callable[[GradFn], int | None],
    names: Names,
) -> None:
    """Link what ``node`` keeps to where it came from: an input's producer, or its own op; what it
    kept until it was freed, as far as the graph still tells."""
    for name, value, state in node.saved():
        if value is None:
            source = _maker_of(engine, node, name, forward, forward_of)
            if source is not None:
                build.edge("saved", source, backward, label=name)
            continue
        producer, label = forward, name
        if engine.is_input(value):
            source = producer_of(value)
            if source is None and state == "changed":  # the tensor goes by its later history
                source = _maker_of(engine, node, name, forward, forward_of)
            if source is None:
                continue
            producer = source
            label = names.of(value) or names.placeholder(name)
        known = engine.extent(value)
        if known is None:  # a number
            continue
        build.edge(
            "saved", producer, backward, shape=known.shape, dtype=known.dtype, label=label,
            nbytes=known.nbytes,
        )  # fmt: skip


def _maker_of(
    engine: Engine,
    node: GradFn,
    name: str,
    forward: int,
    forward_of: Callable[[GradFn], int | None],
) -> int | None:
    """Return the op that made a value which ``node`` no longer keeps as it was: by the name of the
    input, whose edge is still there; a constant has none."""
    at = engine.input_of(node, name)
    if at is None:
        return None
    if at == OWN_RESULT:
        return forward
    maker = resolve(node.edges[at])[0]
    return None if maker is None else forward_of(maker)
