"""The flow of a pass: how large the gradient was at each node, and what the node made of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

from gradstep.debugger.snapshot import Incoming, Outgoing
from gradstep.graph.model import Graph
from gradstep.graph.statistics import Statistics
from gradstep_tui.app.widgets.text import is_accumulate


class NodeFlow(NamedTuple):
    """The root mean square of the gradient that arrived at a node, nan where an element is no
    number and None where it is undefined; ``factor`` is that of what it sent on, over it: of
    several, the one that is farthest from 1. It is None for what sends nothing on but to leaves.
    """

    rms: float | None
    factor: float | None = None

    @property
    def jump(self) -> float:
        """How many decimal orders of magnitude the node shrinks or enlarges the gradient."""
        if self.factor is None:
            return 0.0
        return abs(math.log10(self.factor)) if 0 < self.factor < math.inf else math.inf


@dataclass
class Extent:
    """The least and the largest gradient of nodes in a row, as far as they were looked at."""

    stop: int
    least: float = math.inf
    largest: float = 0.0
    trouble: bool = False


class Flow:
    """The flow at the nodes that have run, as far as somebody has looked.

    Of a long pass that takes seconds, so that it is looked at bit by bit, when there is time.
    """

    def __init__(self) -> None:
        self._nodes: dict[int, NodeFlow] = {}
        self._troubled: set[int] = set()
        self._extents: dict[tuple[int, int], Extent] = {}
        self.looked = 0  # nodes, from the first on

    @property
    def troubled(self) -> list[int]:
        """The nodes to which something came that is no number, as far as looked at."""
        return sorted(self._troubled)

    def forget(self, start: int = 0) -> None:
        """Look again at the nodes from ``start`` on: they were run in another way."""
        self._nodes = {index: flow for index, flow in self._nodes.items() if index < start}
        self._troubled = {index for index in self._troubled if index < start}
        self._extents.clear()
        self.looked = min(self.looked, start)

    def extent(self, start: int, stop: int) -> Extent:
        """Return the least and the largest gradient from node ``start`` to ``stop``, of those that
        were looked at in their order."""
        extent = self._extents.setdefault((start, stop), Extent(start))
        for index in range(extent.stop, min(stop, self.looked)):
            rms = self._nodes[index].rms
            if rms is None:
                continue
            if not math.isfinite(rms):
                extent.trouble = True
                continue
            extent.least, extent.largest = min(extent.least, rms), max(extent.largest, rms)
        extent.stop = max(extent.stop, min(stop, self.looked))
        return extent

    def known(self, index: int) -> NodeFlow | None:
        """Return the flow at a node that somebody has looked at."""
        return self._nodes.get(index)

    def at(self, read: Callable[[int], NodeFlow], index: int) -> NodeFlow:
        """Return the flow at a node that has run, by ``read`` where nobody has looked yet."""
        if index not in self._nodes:
            flow = self._nodes[index] = read(index)
            if flow.rms is not None and not math.isfinite(flow.rms):
                self._troubled.add(index)
        return self._nodes[index]

    def look_further(self, read: Callable[[int], NodeFlow], stop: int, seconds: float) -> None:
        """Look at more of the ``stop`` nodes that have run, for so long."""
        end = perf_counter() + seconds
        while self.looked < stop and perf_counter() < end:
            self.at(read, self.looked)
            self.looked += 1


def flow_of(
    graph: Graph, node: int, incoming: Iterable[Incoming], outgoing: Iterable[Outgoing]
) -> NodeFlow:
    """Return the flow at a node, of what arrived there and what it sent."""
    totals = [arrival.total.statistics for arrival in incoming if arrival.total is not None]
    arrived = _rms(totals[0]) if totals else None
    if any(total.trouble for total in totals):
        arrived = math.nan
    names = graph.names
    if not arrived or math.isnan(arrived) or is_accumulate(names[node]):
        return NodeFlow(arrived)
    factors = [
        _rms(sent.value.statistics) / arrived
        for sent in outgoing
        if sent.sent and sent.value is not None
        if sent.target is not None and not is_accumulate(names[sent.target])
    ]
    if not factors:
        return NodeFlow(arrived)
    return NodeFlow(arrived, max(factors, key=lambda factor: NodeFlow(arrived, factor).jump))


def _rms(statistics: Statistics) -> float:
    return math.nan if statistics.trouble else statistics.rms
