"""Who contributes what to which sum: known from the plan before anything has run."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.node import Node, Port
from autograd_core.autograd.step import Delivery
from autograd_core.dag.capture.backward import input_shape
from autograd_core.dag.model import Graph
from autograd_core.debug.recording.driver_protocol import Pending
from autograd_core.debug.recording.history import History
from autograd_core.debug.records.snapshot import Contribution, Entry, Incoming, Outgoing
from autograd_core.debug.records.value import Value, Values, array_of, value

Gradient = Any
Indices = NDArray[np.int64]
SEED = -1  # the producer of what the caller of backward gave
MOST_SHOWN = 256  # contributions in one Incoming; a shared weight may have a hundred thousand


class Moment(NamedTuple):
    """How far a pass is: before node ``position``, or ``inside`` it, where it has ``sent`` along
    its first edges, or a leaf has ``accumulated``."""

    position: int
    inside: bool = False
    sent: int = 0
    accumulated: bool = False

    def has_sent(self, producer: int, output_nr: int) -> bool:
        """Whether the gradient along this edge has been delivered; seeds always have."""
        return producer < self.position or (producer == self.position and output_nr < self.sent)

    def has_accumulated(self, index: int) -> bool:
        """Whether the leaf at node ``index`` has its new ``.grad``."""
        return index < self.position or (index == self.position and self.accumulated)


class Source(NamedTuple):
    """An edge that leads to input ``input_nr`` of a node: from plan node ``producer``, or from
    root number ``output_nr`` where that is SEED."""

    producer: int
    output_nr: int
    input_nr: int


class SumChange(NamedTuple):
    """A sum was changed by the user, at ``position``: to ``total``, in words ``text``."""

    position: int
    text: str
    total: Gradient


class Sum(NamedTuple):
    """What came together at one input: how many contributions of how many, their sum, and where
    the latest of them came from."""

    input_nr: int
    arrived: int
    expected: int
    total: Value | None
    sources: list[Source]


class Ledger:
    """Every contribution to every sum, in the order in which they arrive.

    The edges of the graph are sorted by target and, within one, by producer: as nodes run in
    plan order, that is the order of arrival.  All is kept in arrays, for a graph may have a
    million of them.
    """

    def __init__(
        self,
        graph: Graph,
        order: Sequence[Node],
        seeds: Sequence[Gradient],
        history: History,
        pending: Pending,
    ) -> None:
        self._order = order
        self._graph = graph
        self._seeds = seeds
        self._history = history
        self._pending = pending
        self.values = Values()
        length = len(order)
        sources, targets = _column(graph.edge_sources), _column(graph.edge_targets)
        output_nrs, input_nrs = _column(graph.edge_output_nrs), _column(graph.edge_input_nrs)
        # the nodes of seeds stand behind the plan, in the order of the roots
        seeded = sources >= length
        output_nrs = np.where(seeded, sources - length, output_nrs)
        producers = np.where(seeded, SEED, sources)
        by_target = np.lexsort((output_nrs, producers, targets))
        self._producers = producers[by_target]
        self._output_nrs = output_nrs[by_target]
        self._input_nrs = input_nrs[by_target]
        self._starts = _starts(targets, length)
        inner = np.flatnonzero(~seeded)
        by_source = inner[np.argsort(sources[inner], kind="stable")]
        self._targets = targets[by_source]
        self._target_starts = _starts(sources[inner], length)
        self._edge_ids = by_source

    def sources(self, index: int) -> list[Source]:
        """The edges that lead to plan node ``index``, in order of arrival."""
        return self._slice(index, 0, int(self._starts[index + 1] - self._starts[index]))

    def _slice(self, index: int, first: int, last: int) -> list[Source]:
        start = self._starts[index]
        columns = (self._producers, self._output_nrs, self._input_nrs)
        rows = (column[start + first : start + last].tolist() for column in columns)
        return [Source(*row) for row in zip(*rows, strict=True)]

    def targets(self, index: int) -> list[int]:
        """The plan nodes that node ``index`` sends gradients to."""
        found: list[int] = self._targets[
            self._target_starts[index] : self._target_starts[index + 1]
        ].tolist()
        return found

    def arrived(self, index: int, moment: Moment) -> tuple[int, int]:
        """How many contributions node ``index`` has had by ``moment``, and of how many."""
        first, last = int(self._starts[index]), int(self._starts[index + 1])
        producers = self._producers[first:last]
        here = int(np.searchsorted(producers, moment.position))
        while first + here < last and moment.has_sent(
            int(producers[here]), int(self._output_nrs[first + here])
        ):
            here += 1
        return here, last - first

    def waiting(self, position: int) -> list[int]:
        """The plan nodes from ``position`` on at which something has arrived by then."""
        starts, length = self._starts, len(self._starts) - 1
        reached = np.flatnonzero(starts[position:length] < starts[position + 1 :]) + position
        first = self._producers[starts[reached]]
        found: list[int] = reached[first < position].tolist()
        return found

    def path(self, index: int) -> tuple[int, ...]:
        """The shortest way from a root to node ``index``, as plan indices, both included."""
        came_from = {index: index}
        row = [index]
        while row:
            before = []
            for node in row:
                for source in self.sources(node):
                    if source.producer == SEED:
                        return _way(came_from, node)
                    if source.producer not in came_from:
                        came_from[source.producer] = node
                        before.append(source.producer)
            row = before
        return ()

    # what arrived, and what was sent

    def incoming(self, index: int, moment: Moment) -> tuple[Incoming, ...]:
        """What arrived at node ``index`` by ``moment``, per input, with its sum."""
        return tuple(
            Incoming(
                sum_.input_nr,
                input_shape(self._order[index], sum_.input_nr),
                sum_.expected,
                tuple(map(self._contribution, sum_.sources)),
                sum_.total,
                sum_.arrived - len(sum_.sources),
            )
            for sum_ in self.sums(index, moment)
        )

    def _contribution(self, source: Source) -> Contribution:
        producer = None if source.producer == SEED else source.producer
        return Contribution(producer, source.output_nr, self.values.of(self._gradient(source)))

    def sums(self, index: int, moment: Moment) -> list[Sum]:
        """The sum at each input of node ``index`` by ``moment``."""
        if not self._order[index].ported:
            here, expected = self.arrived(index, moment)
            if not expected:
                return []
            latest = self._slice(index, max(0, here - MOST_SHOWN), here)
            return [Sum(0, here, expected, self._total(index, 0, moment), latest)]
        per_input: dict[int, list[Source]] = {}
        for source in self.sources(index):
            per_input.setdefault(source.input_nr, []).append(source)
        found = []
        for nr, sources in sorted(per_input.items()):
            arrived = [source for source in sources if moment.has_sent(*source[:2])]
            total = self._total(index, nr, moment)
            found.append(Sum(nr, len(arrived), len(sources), total, arrived[-MOST_SHOWN:]))
        return found

    def _total(self, index: int, input_nr: int, moment: Moment) -> Value | None:
        return self.values.of(self.total(index, input_nr, moment))

    def total(self, index: int, input_nr: int, moment: Moment) -> Gradient:
        """The sum at an input: what waits there, or what the node found when it ran."""
        if index < moment.position or (index == moment.position and moment.inside):
            return self._history[index].incoming[input_nr]
        node = self._order[index]
        return self._pending[Port(node, input_nr) if node.ported else node]

    def _gradient(self, source: Source) -> Gradient:
        if source.producer == SEED:
            return self._seeds[source.output_nr]
        delivery = self._delivery(source.producer, source.output_nr)
        return None if delivery is None else delivery.gradient

    def _delivery(self, producer: int, output_nr: int) -> Delivery | None:
        deliveries = self._history[producer].deliveries
        # a node at which a call of grad ends sends nothing
        return deliveries[output_nr] if output_nr < len(deliveries) else None

    def outgoing(self, index: int, moment: Moment) -> tuple[Outgoing, ...]:
        """What node ``index`` sends along each edge, as far as it has by ``moment``."""
        edges = self._order[index].edges
        first, last = int(self._target_starts[index]), int(self._target_starts[index + 1])
        graph = self._graph
        targets = {
            graph.edge_output_nrs[id]: (graph.edge_targets[id], graph.edge_input_nrs[id])
            for id in self._edge_ids[first:last].tolist()
        }
        result = []
        for output_nr in range(len(edges)):
            target, input_nr = targets.get(output_nr, (None, 0))
            sent = moment.has_sent(index, output_nr)
            delivery = self._delivery(index, output_nr) if sent else None
            g = None if delivery is None else delivery.gradient
            result.append(Outgoing(output_nr, target, input_nr, sent, self.values.of(g)))
        return tuple(result)

    # the running account

    def entries(
        self, index: int, input_nr: int, moment: Moment, changes: Sequence[SumChange] = ()
    ) -> Iterator[Entry]:
        """Every contribution to one input so far, with the sum it made and what cancelled, and
        every change by the user.

        Values are handed out one by one, because together they may be larger than memory.
        """
        magnitudes: Any = 0
        total: Gradient = None
        waiting = deque(changes)
        for number, source in enumerate(self.sources(index)):
            if source.input_nr != input_nr or not moment.has_sent(*source[:2]):
                continue
            while waiting and waiting[0].position <= source.producer:
                change = waiting.popleft()
                magnitudes = np.abs(array_of(change.total))
                yield _changed(change)
            g = self._gradient(source)
            if source.producer == SEED:
                total = g if total is None else total + g
            elif (delivery := self._delivery(*source[:2])) is not None:
                total = delivery.after
            if g is not None:
                magnitudes = magnitudes + np.abs(array_of(g))
            producer = None if source.producer == SEED else source.producer
            yield Entry(
                number,
                producer,
                source.output_nr,
                value(g),
                value(total),
                _remaining(total, magnitudes),
            )
        yield from map(_changed, waiting)


def _changed(change: SumChange) -> Entry:
    return Entry(-1, None, 0, None, value(change.total), 1.0, change.text)


def _way(leads_to: dict[int, int], node: int) -> tuple[int, ...]:
    way = [node]
    while leads_to[node] != node:
        node = leads_to[node]
        way.append(node)
    return tuple(way)


def _remaining(total: Gradient, magnitudes: Any) -> float:
    """How much of the parts is left in their sum: 1 when nothing cancelled, 0 when all did."""
    if total is None:
        return 1.0
    parts = float(np.sum(magnitudes, dtype=np.float64))
    return float(np.sum(np.abs(array_of(total)), dtype=np.float64)) / parts if parts else 1.0


def _column(entries: Sequence[int]) -> Indices:
    return np.fromiter(entries, np.int64, len(entries))


def _starts(keys: Indices, length: int) -> Indices:
    """Where the entries of each key begin, once they are sorted by key."""
    return np.concatenate(([0], np.cumsum(np.bincount(keys, minlength=length)))).astype(np.int64)
