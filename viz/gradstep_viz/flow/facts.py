"""What a graph knows of its ops, summed up for rows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import prod
from typing import NamedTuple

import numpy as np

from gradstep.graph.infinities import without_absorbed
from gradstep.graph.model import PARAMETER_KINDS, Shape
from gradstep.graph.saved_columns import SavedColumns
from gradstep.graph.statistics import Statistics
from gradstep.graph.statistics_columns import StatisticsColumns
from gradstep_viz.flow.parts import BROKEN, DEAD, HEALTHY, Ops
from gradstep_viz.picture import formatting
from gradstep_viz.picture.magnitude import has_gradients


class Size(NamedTuple):
    """The size of a gradient: its rms; ``state`` is DEAD where it is 0, BROKEN where it is NaN or
    infinite, and ``word`` says so."""

    rms: float
    state: int = HEALTHY
    word: str = ""

    @classmethod
    def of(cls, stats: Statistics) -> Size:
        if stats.trouble:
            return cls(math.nan, BROKEN, "NaN" if stats.nans else "inf")
        return cls(0.0, DEAD) if stats.is_zero else cls(stats.rms)


def _sizes(statistics: Mapping[int, Statistics], count: int) -> list[Size | None]:
    """Return the size of each of so many gradients, None of one that is unknown: all at once, as a
    large graph has a million."""
    table = StatisticsColumns.of(statistics).table(range(count))
    elements, rms, _, _, zeros, nans, infs, _ = table.columns
    is_broken, is_zero = (nans > 0) | (infs > 0), (elements > 0) & (zeros == elements)
    states = np.where(is_broken, BROKEN, np.where(is_zero, DEAD, HEALTHY))
    sizes: list[Size | None] = [
        None if number < 0 else Size(size, state)
        for number, size, state in zip(
            elements.tolist(), rms.tolist(), states.tolist(), strict=True
        )
    ]
    for at in np.flatnonzero(is_broken).tolist():
        sizes[at] = Size(math.nan, BROKEN, "NaN" if nans[at] else "inf")
    return sizes


def largest(sizes: Iterable[Size]) -> Size | None:
    """Return the worst or else the largest of several."""
    return max(sizes, key=lambda one: (one.state == BROKEN, one.rms), default=None)


class Leaf(NamedTuple):
    """A tensor that no op made, and what is read of it."""

    node: int
    name: str
    shape: Shape | None
    is_parameter: bool
    has_gradient: bool
    detail: str


class Facts:
    """Facts of units; a unit is an op with its grad_fn.

    Attributes:
        gradients: the gradient that arrives at each unit, None where none is known.
        others: that of a graph that is compared; empty where none is.
        flows: of each pair of units (reader, producer), the gradient that the one gives the other.
        given: of each pair of a unit and a leaf, the gradient that the one gives the other.
        leaves: the leaves of the graph, by their node in the forward half.
        read: the leaves that each unit reads.
        ran: whether gradients have flowed at all.
    """

    def __init__(self, ops: Ops) -> None:
        assert ops.units is not None
        self.ops, self.units = ops, ops.units
        self.graph = graph = without_absorbed(ops.graph)
        self.ran = has_gradients(graph)
        of_nodes = _sizes(graph.statistics, len(graph))
        self.gradients: list[Size | None] = [
            of_nodes[backward] if backward >= 0 else None for backward in ops.units.backward
        ]
        of_others = _sizes(graph.others, len(graph)) if graph.others else []
        self.others: list[Size | None] = [
            of_others[backward] if backward >= 0 else None
            for backward in (ops.units.backward if of_others else ())
        ]
        self.shapes: dict[tuple[int, int], Shape | None] = {}
        self.flows: dict[tuple[int, int], Size] = {}
        self.given: dict[tuple[int, int], Size] = {}
        self.leaves: dict[int, Leaf] = {}
        self.read: dict[int, list[int]] = {}
        self.outputs: dict[int, list[int]] = {}
        self._read_edges()

    def _read_edges(self) -> None:
        graph, of = self.graph, self.units.of
        kinds, pairs, shapes = graph.kinds, graph.pairs, graph.edge_shapes
        sizes = _sizes(graph.edge_statistics, graph.edge_count)
        ends = zip(graph.edge_kinds, graph.edge_sources, graph.edge_targets, strict=True)
        for id, (kind, source, target) in enumerate(ends):
            if kind == "saved":
                continue
            one, other = of[source], of[target]
            if kind == "gradient":
                if one < 0 or (size := sizes[id]) is None:
                    continue
                key = (one, other) if other >= 0 else (one, pairs.get(target, target))
                known = self.flows if other >= 0 else self.given
                known[key] = size if key not in known else largest((known[key], size)) or size
            elif one < 0 <= other:
                self._add_leaf(source)
                read = self.read.setdefault(other, [])
                if source not in read:
                    read.append(source)
            elif other >= 0:
                if (one, other) not in self.shapes:
                    self.shapes[one, other] = shapes[id]
            elif kinds[target] == "output" and one >= 0:
                self.outputs.setdefault(one, []).append(target)

    def _add_leaf(self, node: int) -> None:
        if node in self.leaves:
            return
        graph, kind = self.graph, self.graph.kinds[node]
        name = graph.variables.get(node) or graph.results.get(node, "")
        self.leaves[node] = Leaf(
            node, name, graph.shapes[node], kind in PARAMETER_KINDS,
            kind in ("leaf", "parameter"), graph.details[node],
        )  # fmt: skip

    def parameters(self, units: Iterable[int]) -> list[int]:
        """Return the parameters that units read, each once."""
        read = (leaf for unit in units for leaf in self.read.get(unit, ()))
        return [leaf for leaf in dict.fromkeys(read) if self.leaves[leaf].is_parameter]

    def parameter_gradient(self, units: Sequence[int]) -> Size | None:
        """Return the rms of all that units give to gradients of parameters."""
        total = count = 0.0
        state, word = HEALTHY, ""
        for unit in units:
            for leaf in self.read.get(unit, ()):
                size = self.given.get((unit, leaf))
                if size is None or not self.leaves[leaf].is_parameter:
                    continue
                if size.state == BROKEN:
                    state, word = BROKEN, size.word
                elements = prod(self.leaves[leaf].shape or ())
                total += elements * size.rms**2
                count += elements
        if not count:
            return None
        if state == BROKEN:
            return Size(math.nan, BROKEN, word)
        return Size(math.sqrt(total / count), HEALTHY if total else DEAD)

    def states(self) -> list[int]:
        """Say of each unit how sick its gradient is, in the worse of two graphs, -1 where none is
        known."""
        states = [-1 if size is None else size.state for size in self.gradients]
        others = [-1 if size is None else size.state for size in self.others]
        return list(map(max, states, others)) if others else states

    def mark_of(self, units: Iterable[int]) -> str:
        """Say how ops differ from those of a graph that is compared, "" where they do not."""
        if not self.graph.marks:
            return ""
        nodes = [self.units.nodes(unit) for unit in units]
        marks = [[formatting.marked(self.graph, id) for id in each] for each in nodes]
        known = dict.fromkeys(mark for each in marks for mark in each if mark)
        if not known:
            return ""
        return next(iter(known)) if len(known) == 1 and all(map(any, marks)) else "differs"

    def saved_by(self, places: Sequence[int], count: int) -> tuple[list[int], list[bool]]:
        """Return the bytes that each of ``count`` places keeps for the backward pass, beside what
        parameters and buffers own, and whether it keeps something packed; ``places`` are those of
        units.  Memory that several keep counts at the first of them."""
        saved, of = SavedColumns.of(self.graph.saved), self.units.of
        by_place: list[list[int]] = [[] for _ in range(count)]
        packed = [False] * count
        for at, node in enumerate(saved.nodes):
            unit = of[node]
            place = places[unit] if unit >= 0 else -1
            if place < 0 or saved.states[at] == "freed":
                continue
            if saved.states[at] == "packed":
                packed[place] = True
                continue
            memory = saved.memories[at]
            if memory is None or not memory.owner:
                by_place[place].append(at)
        seen: dict[object, int] = {}
        wholes: Counter[int] = Counter()
        sizes = []
        for values in by_place:
            total = 0
            for at in values:
                nbytes, memory = saved.nbytes[at], saved.memories[at]
                storage = saved.storages[at]
                key: object = ("one", at) if storage is None else storage
                new = max(0, nbytes - seen.get(key, 0))
                seen[key] = max(nbytes, seen.get(key, 0))
                if memory is not None:
                    new = min(new, memory.nbytes - wholes[memory.number])
                    wholes[memory.number] += new
                total += new
            sizes.append(total)
        return sizes, packed

    def seconds(self, units: Iterable[int]) -> float | None:
        """Return how long ops took, forward and backward; None where nobody measured it."""
        costs, nodes = self.graph.costs, self.units.nodes
        known = [
            seconds
            for unit in (units if costs else ())
            for node in nodes(unit)
            if (cost := costs.get(node)) is not None
            for seconds in (cost.forward_seconds, cost.backward_seconds)
            if seconds is not None
        ]
        return sum(known) if known else None


def scale_of(sizes: Sequence[Size]) -> tuple[int, int]:
    """Return the powers of ten between which gradients are drawn: from the 3 % quantile, or the
    smallest where that is near, to the largest of them, two decades or more."""
    known = sorted(one.rms for one in sizes if one.state == HEALTHY and one.rms > 0)
    if not known:
        return -2, 0
    low, least = (math.log10(known[at]) for at in (int(0.03 * (len(known) - 1)), 0))
    low = least if low - least < 1 else low
    high = math.ceil(math.log10(known[-1]) - 0.02)
    return min(math.floor(low + 0.02), high - 2), high


def share_of(size: Size, scale: tuple[int, int]) -> float:
    """Return where a gradient stands on the scale, from 0 to 1."""
    if size.state == BROKEN:
        return 1.0
    if size.rms <= 0:
        return 0.0
    low, high = scale
    return float(np.clip((math.log10(size.rms) - low) / (high - low), 0.02, 1.0))
