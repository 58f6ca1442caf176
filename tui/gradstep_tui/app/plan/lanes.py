"""The lanes of the execution list: which column every edge of a backward pass runs in.

Rows are plan nodes in the order in which they run, as commits are in a commit graph.  A
*lane* belongs to a node that waits for gradients: it opens in the row of its first producer,
further producers join it, and it ends in the row where the node runs.  A lane is therefore
exactly one pending sum, and joining it is what the engine calls accumulation.

Nothing in here knows about a screen.  Everything is linear in rows plus edges and computed
as far as somebody has looked; checkpoints make any row cheap to draw afterwards.
"""

from __future__ import annotations

from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from gradstep.graph.model import Graph
from gradstep_viz.flow.lane_rows import HIDDEN, LaneRow

MAX_LANES = 12
CHECKPOINT_EVERY = 256

IndexArray = NDArray[np.int64]


class PlanEdges:
    """The gradient edges of a backward graph, sorted by source: ``targets_of(k)`` is a slice."""

    def __init__(self, graph: Graph, length: int) -> None:
        sources = np.asarray(graph.edge_sources, dtype=np.int64)
        targets = np.asarray(graph.edge_targets, dtype=np.int64)
        # a seed or a value edge is not part of the plan and has no lane
        ids = np.flatnonzero((sources < targets) & (targets < length))
        ids = ids[np.argsort(sources[ids], kind="stable")]
        self.ids: IndexArray = ids
        self.targets: IndexArray = targets[ids]
        self.sources: IndexArray = sources[ids]
        counts = np.bincount(self.sources, minlength=length)
        self._starts: list[int] = np.concatenate(([0], np.cumsum(counts))).tolist()
        self._target_list: list[int] = self.targets.tolist()
        self._input_nrs = np.asarray(graph.edge_input_nrs, dtype=np.int64)
        by_target = np.argsort(self.targets, kind="stable")
        self._arriving: IndexArray = ids[by_target]
        arriving = np.bincount(self.targets, minlength=length)
        self._arriving_starts: list[int] = np.concatenate(([0], np.cumsum(arriving))).tolist()

    def targets_of(self, index: int) -> list[int]:
        return self._target_list[self._starts[index] : self._starts[index + 1]]

    def targets_of_all(self, nodes: range) -> frozenset[int]:
        """Return the nodes that some of ``nodes`` send to."""
        return frozenset(self._target_list[self._starts[nodes.start] : self._starts[nodes.stop]])

    def targets_in(self, start: int, stop: int) -> list[int]:
        """Return the nodes from ``stop`` on that the nodes ``start`` to ``stop`` send to."""
        reached = np.unique(self.targets[self._starts[start] : self._starts[stop]])
        targets: list[int] = reached[reached >= stop].tolist()
        return targets

    def is_sink(self, index: int) -> bool:
        """True for a node that sends nothing on, such as an AccumulateGrad."""
        return self._starts[index] == self._starts[index + 1]

    def producers_of(self, index: int, input_nr: int | None = None) -> list[int]:
        """Return the edge ids that lead to ``index``, or to one input of it, in the order in which
        they deliver."""
        start, stop = self._arriving_starts[index], self._arriving_starts[index + 1]
        arriving = self._arriving[start:stop]
        if input_nr is not None:
            arriving = arriving[self._input_nrs[arriving] == input_nr]
        producers: list[int] = arriving.tolist()
        return producers


class Lanes:
    """Lane numbers for ``length`` rows, computed up to the last row that was asked for."""

    def __init__(self, edges: PlanEdges, length: int) -> None:
        self.edges = edges
        self.length = length
        self._computed = 0
        self._lane_of = [HIDDEN] * length
        self._opened_by = [HIDDEN] * length
        self._free: list[int] = []
        self._used = 0
        self._open = 0
        self._occupants: list[int | None] = [None] * MAX_LANES
        self._checkpoints: list[tuple[tuple[int | None, ...], int]] = []

    @property
    def computed(self) -> int:
        """The number of rows that have been computed."""
        return self._computed

    @property
    def complete(self) -> bool:
        return self._computed == self.length

    @property
    def width(self) -> int:
        """The largest number of lanes in use, as far as computed."""
        return max(1, self._used)

    def extend(self, rows: int) -> None:
        """Compute the first ``rows`` rows, if that has not happened yet."""
        for index in range(self._computed, min(rows, self.length)):
            if index % CHECKPOINT_EVERY == 0:
                self._checkpoints.append((tuple(self._occupants), self._open))
            self._place(index)
            self._computed = index + 1

    def _place(self, index: int) -> None:
        lane_of = self._lane_of
        if lane_of[index] == HIDDEN:
            self._open_lane(index, index)
        self._close_lane(index)
        fresh = [t for t in self.edges.targets_of(index) if lane_of[t] == HIDDEN]
        if len(fresh) > 1:
            # what goes on keeps the straight line; what ends (a leaf) steps aside
            fresh.sort(key=self.edges.is_sink)
        for target in fresh:
            if lane_of[target] == HIDDEN:
                self._open_lane(target, index)

    def _open_lane(self, node: int, row: int) -> None:
        if self._free:
            lane = heappop(self._free)
        else:
            lane = self._used
            self._used += 1
        self._lane_of[node] = lane
        self._opened_by[node] = row
        self._open += 1
        if lane < MAX_LANES:
            self._occupants[lane] = node

    def _close_lane(self, node: int) -> None:
        lane = self._lane_of[node]
        heappush(self._free, lane)
        self._open -= 1
        if lane < MAX_LANES:
            self._occupants[lane] = None

    def rows(self, start: int, stop: int) -> list[LaneRow]:
        """Return the rows ``start`` to ``stop`` (exclusive)."""
        stop = min(stop, self.length)
        self.extend(stop)
        if start >= stop:
            return []
        first = start - start % CHECKPOINT_EVERY
        occupants, open_lanes = self._checkpoints[start // CHECKPOINT_EVERY]
        alive = list(occupants)
        rows = []
        for index in range(first, stop):
            before = tuple(alive)
            open_lanes += self._step(index, alive)
            if index >= start:
                rows.append(self._row(index, before, tuple(alive), open_lanes))
        return rows

    def _step(self, index: int, alive: list[int | None]) -> int:
        """Carry the visible lanes over one row; by how many the open lanes grow."""
        grown = 0
        lane = self._lane_of[index]
        if self._opened_by[index] != index:
            grown -= 1
        if lane < MAX_LANES:
            alive[lane] = None
        for target in dict.fromkeys(self.edges.targets_of(index)):
            if self._opened_by[target] == index:
                grown += 1
                if self._lane_of[target] < MAX_LANES:
                    alive[self._lane_of[target]] = target
        return grown

    def _row(
        self,
        index: int,
        before: tuple[int | None, ...],
        after: tuple[int | None, ...],
        open_lanes: int,
    ) -> LaneRow:
        joined = {self._lane_of[target]: target for target in self.edges.targets_of(index)}
        joins = tuple(sorted(joined))
        visible = sum(owner is not None for owner in after)
        targets = tuple(joined[lane] for lane in joins)
        hidden = open_lanes - visible
        return LaneRow(index, self._lane_of[index], joins, targets, before, after, hidden)

    def stretch(self, start: int, stop: int) -> LaneRow:
        """Return the rows ``start`` to ``stop`` (exclusive) as if they were one node.

        Lanes that end in it join it too, with a target that is inside.
        """
        first, last = self.rows(start, start + 1)[0], self.rows(stop - 1, stop)[0]
        joined = {self._lane_of[target]: target for target in self.edges.targets_in(start, stop)}
        for lane, owner in enumerate(first.before):
            if owner is not None and start < owner < stop and lane != first.column:
                joined.setdefault(lane, owner)
        joined.pop(first.column, None)
        joins = tuple(sorted(joined))
        targets = tuple(joined[lane] for lane in joins)
        return LaneRow(start, first.column, joins, targets, first.before, last.after, last.hidden)
