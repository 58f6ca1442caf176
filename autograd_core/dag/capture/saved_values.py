"""Saved values: on the boxes of the nodes that keep them, and as edges between the halves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autograd_core.autograd.node import resolve
from autograd_core.dag.builder import GraphBuilder
from autograd_core.dag.model import SavedValue, Source
from autograd_core.dag.names import Names
from autograd_core.engines.protocol import OWN_RESULT, Engine, Extent, SavedState
from autograd_core.engines.protocol import Node as GradFn

Kept = tuple[str, Any, SavedState]
"""One thing that a node keeps, as :meth:`Node.saved` tells it."""


class SavedReader:
    """Reads what nodes keep, each one once: both halves of a graph ask for it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._kept: dict[GradFn, list[Kept]] = {}
        self._extents: dict[int, tuple[Any, Extent | None]] = {}  # an id is good while it lives
        self._storages: dict[int, int] = {}

    def kept(self, node: GradFn) -> list[Kept]:
        """Return what ``node`` keeps."""
        found = self._kept.get(node)
        if found is None:
            found = self._kept[node] = list(node.saved())
        return found

    def extent(self, value: Any) -> Extent | None:
        """Return the extent of what a node keeps, None of a number.

        ``storage`` numbers the memory behind the values of several nodes by where it begins, so
        that a tensor and its transpose are one, and slices of a tensor several.
        """
        known = self._extents.get(id(value))
        if known is None:
            extent = self.engine.extent(value)
            if extent is not None and extent.storage is not None:
                number = self._storages.setdefault(extent.storage, len(self._storages))
                extent = extent._replace(storage=number)
            known = self._extents[id(value)] = value, extent
        return known[1]

    def values(self, node: GradFn) -> tuple[SavedValue, ...]:
        """Return what ``node`` keeps, described."""
        return tuple(saved_values(node, self.kept(node), self.extent))


def saved_values(
    node: GradFn, kept: Iterable[Kept], extent: Callable[[Any], Extent | None]
) -> Iterator[SavedValue]:
    """List what ``node`` keeps, without the numbers that its op was called with."""
    for name, value, state in kept:
        lines: tuple[Source, ...] = ()
        if state == "changed":
            lines = tuple(Source(*at) for at in node.changed_at(name))
        elif state == "freed" and node.freed_at is not None:
            lines = (Source(*node.freed_at),)
        if value is None:
            yield SavedValue(name, None, "", 0, state, None, lines)
        elif (known := extent(value)) is not None:
            shape, dtype, nbytes, storage = known
            yield SavedValue(name, shape, dtype, nbytes, state, storage, lines)


def add_saved(
    build: GraphBuilder,
    reader: SavedReader,
    node: GradFn,
    forward: int,
    backward: int,
    producer_of: Callable[[Any], int | None],
    forward_of: Callable[[GradFn], int | None],
    names: Names,
) -> None:
    """Link what ``node`` keeps to where it came from: an input's producer, or its own op; what it
    kept until it was freed, as far as the graph still tells."""
    engine = reader.engine
    for name, value, state in reader.kept(node):
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
        known = reader.extent(value)
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
