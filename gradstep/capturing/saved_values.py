"""Saved values: on the boxes of the nodes that keep them, and as edges between the halves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from gradstep.capturing.names import Names
from gradstep.contract.parameters import named_buffers, named_parameters
from gradstep.contract.protocol import OWN_RESULT, Engine, Reading
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.model import Memory, Owner, SavedValue, Source
from gradstep.graph.saved_columns import SavedColumns
from gradstep.guest.fence import read
from gradstep.records import LEAF, Extent, KeptValue, resolve
from gradstep.records import Node as GradFn


class SavedReader:
    """Reads what nodes keep, and where they were made, each one once: both halves of a graph ask
    for it.

    Attributes:
        saved: what was read; each node goes by its place in the order.
        values: of each value in ``saved`` the value itself, None of one that is gone.
        constants: of each that a graph shows as an input, the grad_fn that keeps it and the name.
    """

    def __init__(self, engine: Engine, order: Sequence[GradFn], names: Names) -> None:
        self.engine, self.reading, self._names = engine, engine.reading, names
        self._order, self._recorded = order, [node.record for node in order]
        self.saved = SavedColumns()
        self.values: list[Any] = []
        self.constants: dict[int, tuple[GradFn, str]] = {}
        self._storages: dict[int, int] = {}
        self._memories: dict[tuple[int, int], Memory] = {}
        self._owners: dict[int, Owner] | None = None

    def records(self, nodes: Iterable[GradFn]) -> Sequence[Any]:
        """Return the records of nodes."""
        if nodes is self._order:
            return self._recorded
        records = dict(zip(self._order, self._recorded, strict=True))
        return list(map(records.__getitem__, nodes))

    def extent(self, value: Any) -> Extent | None:
        """Return the extent of what a node keeps, None of a number.

        ``storage`` numbers the memory behind the values of several nodes by where it begins, so
        that a tensor and its transpose are one, and slices of a tensor several.
        """
        extent, storages = self.reading.extent(value), self._storages
        if extent is None or (begin := extent.storage) is None:
            return extent
        return extent._replace(storage=storages.setdefault(begin, len(storages)))

    def read(self, order: Iterable[GradFn]) -> SavedColumns:
        """Return ``saved``, of the nodes of ``order``, which are always the same."""
        saved, values = self.saved, self.values
        if values:
            return saved
        extent, storages, memory_at = self.reading.extent, self._storages, self._memory_at
        add, keep = saved.add, values.append
        for number, node in enumerate(order):
            for kept in node.saved():
                name, value, state = kept
                if state == "kept" and value is not None:  # as nearly always
                    if (known := extent(value)) is not None:
                        shape, dtype, nbytes, storage, place = known
                        if storage is not None:  # as self.extent does, without a call
                            storage = storages.setdefault(storage, len(storages))
                        memory = memory_at(place)
                        add(number, name, shape, dtype, nbytes, state, storage, (), memory)
                        keep(value)
                else:
                    for one in saved_values(node, [kept], self.extent, memory_at):
                        add(number, *one)
                        keep(value)
        return saved

    def _memory_at(self, place: tuple[int, int] | None) -> Memory | None:
        """Return the memory that an engine knows by a number and its bytes."""
        if place is None:
            return None
        memory = self._memories.get(place)
        if memory is None:
            if self._owners is None:
                self._owners = self._owned()
            owner = self._owners.get(place[0], "")
            memory = self._memories[place] = Memory(len(self._memories), place[1], owner)
        return memory

    def _owned(self) -> dict[int, Owner]:
        """Return what owns the memory of parameters and buffers, which is there anyway."""
        ran = dict.fromkeys(one.scope.paths for one in self._recorded if one)
        modules = [*self._names.modules.values(), *(paths.outermost for paths in ran if paths)]
        leaves = [self.reading.leaf(node) for node in self._order if node.kind == LEAF]
        parameters = [
            self.reading.user_tensor(leaf)
            for leaf in leaves
            if leaf is not None and leaf.is_parameter
        ]
        return {**memory_owners(self.reading, modules, parameters), **self._names.memory_owners}


def memory_owners(
    reading: Reading, modules: Iterable[Any], parameters: Iterable[Any] = ()
) -> dict[int, Owner]:
    """Return what owns the memory of parameters, and of those and the buffers of modules, now."""
    owned: list[tuple[Owner, Any]] = [("parameter", tensor) for tensor in parameters]
    for module in modules:
        owned += [("parameter", tensor) for _, tensor in named_parameters(module)]
        owned += [("buffer", tensor) for _, tensor in named_buffers(module)]

    def places(tensor: Any) -> Iterator[int]:
        known = reading.extent(tensor) if reading.owns(tensor) else None
        if known is not None and known.memory is not None:
            yield known.memory[0]

    owners: dict[int, Owner] = {}
    for owner, tensor in owned:
        for place in read(partial(places, tensor)):  # of a lazy module, it may not be there yet
            owners.setdefault(place, owner)
    return owners


def saved_values(
    node: GradFn,
    kept: Iterable[KeptValue],
    extent: Callable[[Any], Extent | None],
    memory_at: Callable[[tuple[int, int] | None], Memory | None],
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
            shape, dtype, nbytes, storage, place = known
            memory = memory_at(place)
            yield SavedValue(name, shape, dtype, nbytes, state, storage, lines, memory)


def add_saved(
    build: GraphBuilder,
    reader: SavedReader,
    order: Sequence[GradFn],
    forwards: Sequence[int | None],
    producer_of: Callable[[Any], int | None],
    forward_of: Callable[[GradFn], int | None],
    names: Names,
) -> None:
    """Pair the two halves of each node in ``order``, whose other id is in ``forwards``, and link
    what it keeps to where it came from: an input's producer, or its own op; what it kept until it
    was freed, as far as the graph still tells."""
    ones = np.array([-1 if one is None else one for one in forwards], np.int64)
    others = np.flatnonzero(ones >= 0)
    build.pairs.put(ones[others], others)
    build.pairs.put(others, ones[others])
    reading, saved = reader.reading, reader.read(order)
    sources: list[int] = []
    places: list[int] = []  # of the value, in ``saved``
    labels: list[str] = []
    is_input = reading.is_input
    for at, (number, name, value) in enumerate(
        zip(saved.nodes, saved.names, reader.values, strict=True)
    ):
        producer = forward = forwards[number]
        if forward is None:
            continue
        label = name
        if value is None:
            producer = _maker_of(reading, order[number], name, forward, forward_of)
        elif is_input(value):
            producer = producer_of(value)
            if producer is None:  # one that was changed goes by its later history
                producer = _maker_of(reading, order[number], name, forward, forward_of)
            label = name_of_input(value, names) or names.placeholder(name)
        if producer is not None:
            sources.append(producer)
            places.append(at)
            labels.append(label)
    first = len(build.edge_kinds)
    build.edge_kinds += ["saved"] * len(sources)
    build.edge_sources.extend(sources)
    build.edge_targets.extend([saved.nodes[at] for at in places])
    build.edge_output_nrs.extend([0] * len(sources))
    build.edge_input_nrs.extend([0] * len(sources))
    build.edge_shapes.extend([saved.shapes[at] for at in places])
    build.edge_dtypes.extend([saved.dtypes[at] for at in places])
    build.edge_labels.extend(first, labels)
    build.edge_nbytes.extend(first, [saved.nbytes[at] or None for at in places])


def name_of_input(value: Any, names: Names) -> str:
    """Return what the program calls an input that a node keeps, "" if it is unknown."""
    return names.of(value) or getattr(value, "called", "")


def _maker_of(
    reading: Reading,
    node: GradFn,
    name: str,
    forward: int,
    forward_of: Callable[[GradFn], int | None],
) -> int | None:
    """Return the op that made a value which ``node`` no longer keeps as it was: by the name of the
    input, whose edge is still there; a constant has none."""
    at = reading.input_of(node, name)
    if at is None:
        return None
    if at == OWN_RESULT:
        return forward
    maker = resolve(node.edges[at])[0]
    return None if maker is None else forward_of(maker)
