"""Saved values: on the boxes of the nodes that keep them, and as edges between the halves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autograd_core.autograd.node import resolve
from autograd_core.dag.builder import GraphBuilder
from autograd_core.dag.model import SavedValue, Shape, Source
from autograd_core.dag.names import Names
from autograd_core.dag.saved_columns import SavedColumns
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
            if extent is not None and (begin := extent.storage) is not None:
                shape, dtype, nbytes, _ = extent
                number = self._storages.setdefault(begin, len(self._storages))
                extent = tuple.__new__(Extent, (shape, dtype, nbytes, number))
            known = self._extents[id(value)] = value, extent
        return known[1]

    def columns(self, order: Iterable[GradFn]) -> SavedColumns:
        """Return what the nodes of ``order`` keep, described; each goes by its place there."""
        columns = SavedColumns()
        add, extent, extents = columns.add, self.extent, self._extents
        for number, node in enumerate(order):
            found = self.kept(node)
            for name, value, state in found:
                if state == "kept" and value is not None:  # as nearly always
                    seen = extents.get(id(value))
                    known = extent(value) if seen is None else seen[1]
                    if known is not None:
                        shape, dtype, nbytes, storage = known
                        add(number, name, shape, dtype, nbytes, state, storage)
                else:
                    for one in saved_values(node, [(name, value, state)], extent):
                        add(number, *one)
        return columns


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
    ids: Iterable[tuple[GradFn, int, int]],
    producer_of: Callable[[Any], int | None],
    forward_of: Callable[[GradFn], int | None],
    names: Names,
) -> None:
    """Pair the two halves of each node, whose ids there are in ``ids``, and link what it keeps to
    where it came from: an input's producer, or its own op; what it kept until it was freed, as far
    as the graph still tells."""
    engine = reader.engine
    pairs, labels, sizes = build.pairs, build.edge_labels, build.edge_nbytes
    sources: list[int] = []
    targets: list[int] = []
    shapes: list[Shape | None] = []
    dtypes: list[str] = []
    id = len(build.edge_kinds)
    for node, forward, backward in ids:
        pairs[forward] = backward
        pairs[backward] = forward
        for name, value, state in reader.kept(node):
            producer: int | None = forward
            label, known = name, None
            if value is None:
                producer = _maker_of(engine, node, name, forward, forward_of)
            else:
                if engine.is_input(value):
                    producer = producer_of(value)
                    if producer is None and state == "changed":  # it goes by its later history
                        producer = _maker_of(engine, node, name, forward, forward_of)
                    label = names.of(value) or names.placeholder(name)
                known = reader.extent(value)
            if producer is None or (value is not None and known is None):  # a number
                continue
            sources.append(producer)
            targets.append(backward)
            labels[id] = label
            if known is not None and known.nbytes:
                sizes[id] = known.nbytes
            shapes.append(None if known is None else known.shape)
            dtypes.append("" if known is None else known.dtype)
            id += 1
    build.edge_kinds += ["saved"] * len(sources)
    build.edge_sources += sources
    build.edge_targets += targets
    build.edge_output_nrs += [0] * len(sources)
    build.edge_input_nrs += [0] * len(sources)
    build.edge_shapes.extend(shapes)
    build.edge_dtypes.extend(dtypes)


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
