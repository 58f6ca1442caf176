"""The flow of a pass: how large the gradient was at each node, and what the node made of it."""

from __future__ import annotations

import math
from time import perf_counter
from typing import NamedTuple

from gradstep.debugger.session import Session
from gradstep.debugger.snapshot import Outgoing
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


class Flow:
    """The flow at the nodes that have run, as far as somebody has looked.

    Of a long pass that takes seconds, so that it is looked at bit by bit, when there is time.
    """

    def __init__(self) -> None:
        self._nodes: dict[int, NodeFlow] = {}
        self._troubled: set[int] = set()
        self.looked = 0  # nodes, from the first on

    @property
    def troubled(self) -> list[int]:
        """The nodes to which something came that is no number, as far as looked at."""
        return sorted(self._troubled)

    def forget(self, start: int = 0) -> None:
        """Look again at the nodes from ``start`` on: they were run in another way."""
        self._nodes = {index: flow for index, flow in self._nodes.items() if index < start}
        self._troubled = {index for index in self._troubled if index < start}
        self.looked = min(self.looked, start)

    def known(self, index: int) -> NodeFlow | None:
        """Return the flow at a node that somebody has looked at."""
        return self._nodes.get(index)

    def at(self, session: Session, index: int) -> NodeFlow:
        """Return the flow at a node that has run."""
        if index not in self._nodes:
            flow = self._nodes[index] = _flow(session, index)
            if flow.rms is not None and not math.isfinite(flow.rms):
                self._troubled.add(index)
        return self._nodes[index]

    def look_further(self, session: Session, seconds: float) -> bool:
        """Look at more of the nodes that have run, for so long; whether there were any."""
        before, end = self.looked, perf_counter() + seconds
        while self.looked < session.position and perf_counter() < end:
            self.at(session, self.looked)
            self.looked += 1
        return self.looked > before


def _flow(session: Session, index: int) -> NodeFlow:
    totals = [each.total for each in session.inspector.incoming(index)]
    arrived = next((_rms(each.statistics) for each in totals if each is not None), None)
    if any(each is not None and each.statistics.trouble for each in totals):
        arrived = math.nan
    graph = session.graph
    if not arrived or math.isnan(arrived) or is_accumulate(graph.names[index]):
        return NodeFlow(arrived)
    factors = [
        _rms(each.value.statistics) / arrived
        for each in session.inspector.outgoing(index)
        if _goes_on(session, each) and each.value is not None
    ]
    if not factors:
        return NodeFlow(arrived)
    return NodeFlow(arrived, max(factors, key=lambda factor: NodeFlow(arrived, factor).jump))


def _goes_on(session: Session, outgoing: Outgoing) -> bool:
    target = outgoing.target
    return outgoing.sent and target is not None and not is_accumulate(session.graph.names[target])


def _rms(statistics: Statistics) -> float:
    return math.nan if statistics.trouble else statistics.rms
