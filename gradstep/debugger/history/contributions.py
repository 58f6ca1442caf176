"""In which order contributions arrive: known from the plan before anything has run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstep.graph.model import Graph

Indices = NDArray[np.int64]
SEED = -1  # the producer of what the caller of backward gave


class PassState(NamedTuple):
    """The progress of a pass: before node ``position``, or ``inside`` it, where it has ``sent``
    along its first edges, or a leaf has ``accumulated``."""

    position: int
    inside: bool = False
    sent: int = 0
    accumulated: bool = False

    def has_sent(self, producer: int, output_nr: int) -> bool:
        """Return whether the gradient along this edge has been delivered; seeds always have."""
        return producer < self.position or (producer == self.position and output_nr < self.sent)

    def has_accumulated(self, index: int) -> bool:
        """Return whether the leaf at node ``index`` has its new ``.grad``."""
        return index < self.position or (index == self.position and self.accumulated)


class IncomingEdge(NamedTuple):
    """An edge that leads to input ``input_nr`` of a node: from plan node ``producer``, or from
    root number ``output_nr`` where that is SEED."""

    producer: int
    output_nr: int
    input_nr: int


class ContributionOrder:
    """The edges between the first ``length`` nodes of ``graph``, which are those of a plan.

    They are sorted by target and, within one, by producer: as nodes run in plan order, that is
    the order of arrival.  All is kept in arrays, for a graph may have a million of them.
    """

    def __init__(self, graph: Graph, length: int) -> None:
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

    def sources(self, index: int) -> list[IncomingEdge]:
        """Return the edges that lead to plan node ``index``, in order of arrival."""
        return self.some(index, 0, int(self._starts[index + 1] - self._starts[index]))

    def some(self, index: int, first: int, last: int) -> list[IncomingEdge]:
        """Return those of number ``first`` up to ``last`` of them."""
        start = self._starts[index]
        columns = (self._producers, self._output_nrs, self._input_nrs)
        rows = (column[start + first : start + last].tolist() for column in columns)
        return [IncomingEdge(*row) for row in zip(*rows, strict=True)]

    def first_sender(self, index: int) -> int | None:
        """Return the first plan node that sends to node ``index``; None if only a seed does."""
        arriving = self._producers[self._starts[index] : self._starts[index + 1]]
        seeds = int(np.searchsorted(arriving, SEED, side="right"))
        return int(arriving[seeds]) if seeds < len(arriving) else None

    def targets(self, index: int) -> list[int]:
        """Return the plan nodes that node ``index`` sends gradients to."""
        targets: list[int] = self._targets[self._leaving(index)].tolist()
        return targets

    def targets_between(self, first: int, last: int) -> list[int]:
        """Return the plan nodes that nodes ``first`` up to ``last`` send gradients to."""
        start, stop = int(self._target_starts[first]), int(self._target_starts[last])
        # np.unique would load numpy.ma, which keeps the program's module alive
        targets: list[int] = np.flatnonzero(np.bincount(self._targets[start:stop])).tolist()
        return targets

    def edges(self, index: int) -> list[int]:
        """Return the ids of the edges along which node ``index`` sends them."""
        edges: list[int] = self._edge_ids[self._leaving(index)].tolist()
        return edges

    def _leaving(self, index: int) -> slice:
        return slice(int(self._target_starts[index]), int(self._target_starts[index + 1]))

    def arrived(self, index: int, state: PassState) -> tuple[int, int]:
        """Count the contributions that node ``index`` has had by ``state``, and all of them."""
        first, last = int(self._starts[index]), int(self._starts[index + 1])
        producers = self._producers[first:last]
        here = int(np.searchsorted(producers, state.position))
        while first + here < last and state.has_sent(
            int(producers[here]), int(self._output_nrs[first + here])
        ):
            here += 1
        return here, last - first

    def waiting(self, position: int) -> list[int]:
        """Return the plan nodes from ``position`` on at which something has arrived by then."""
        starts, length = self._starts, len(self._starts) - 1
        reached = np.flatnonzero(starts[position:length] < starts[position + 1 :]) + position
        first = self._producers[starts[reached]]
        nodes: list[int] = reached[first < position].tolist()
        return nodes

    def path(self, index: int) -> tuple[int, ...]:
        """Return the shortest way from a root to node ``index``, as plan indices, both included."""
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


def _way(leads_to: dict[int, int], node: int) -> tuple[int, ...]:
    way = [node]
    while leads_to[node] != node:
        node = leads_to[node]
        way.append(node)
    return tuple(way)


def _column(entries: Sequence[int]) -> Indices:
    return np.fromiter(entries, np.int64, len(entries))


def _starts(keys: Indices, length: int) -> Indices:
    """Find where the entries of each key begin, once they are sorted by key."""
    return np.concatenate(([0], np.cumsum(np.bincount(keys, minlength=length)))).astype(np.int64)
