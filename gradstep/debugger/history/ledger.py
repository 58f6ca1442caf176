"""The account of every sum: who contributed what, and what came of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from math import nan
from typing import Any, NamedTuple

import numpy as np

from gradstep.capturing.backward import input_shape
from gradstep.contract.driver import Pending
from gradstep.debugger.errors import StepLost
from gradstep.debugger.history import History
from gradstep.debugger.history.contributions import SEED, ContributionOrder, IncomingEdge, PassState
from gradstep.debugger.snapshot import Contribution, Incoming, LedgerEntry, Outgoing
from gradstep.debugger.snapshot.value import Value, Values, array_of, value
from gradstep.graph.model import Graph
from gradstep.recording.errors import NotRecorded
from gradstep.records import PORT, Delivery, Node, Place

Gradient = Any
MOST_SHOWN = 256  # contributions in one Incoming; a shared weight may have a hundred thousand


class SumChange(NamedTuple):
    """A sum was changed by the user, at ``position``: to ``total``, in words ``text``."""

    position: int
    text: str
    total: Gradient


class Sum(NamedTuple):
    """The sum at one input: how many contributions of how many, their total, and where
    the latest of them came from."""

    input_nr: int
    arrived: int
    expected: int
    total: Value | None
    sources: list[IncomingEdge]


class Ledger:
    """Every contribution to every sum, in the order in which they arrive."""

    def __init__(
        self,
        graph: Graph,
        order: Sequence[Node],
        seeds: Sequence[Gradient],
        history: History,
        pending: Callable[[], Pending],
        places: Callable[[Node], Sequence[Place]],
        version: Callable[[], int],
    ) -> None:
        """``places`` lists the input buffers of a node; ``version`` is as :class:`Values` takes
        it."""
        self._order = order
        self._graph = graph
        self._seeds = seeds
        self._history = history
        self._pending, self._places = pending, places
        self.values = Values(version)
        self.order_of_contributions = ContributionOrder(graph, len(order))

    # what arrived, and what was sent

    def incoming(self, index: int, state: PassState) -> tuple[Incoming, ...]:
        """List what arrived at node ``index`` by ``state``, per input, with its sum."""
        return tuple(
            Incoming(
                sum_.input_nr,
                input_shape(self._order[index], sum_.input_nr),
                sum_.expected,
                tuple(map(self._contribution, sum_.sources)),
                sum_.total,
                sum_.arrived - len(sum_.sources),
            )
            for sum_ in self.sums(index, state)
        )

    def _contribution(self, source: IncomingEdge) -> Contribution:
        producer = None if source.producer == SEED else source.producer
        return Contribution(producer, source.output_nr, self.values.of(self._gradient(source)))

    def sums(self, index: int, state: PassState) -> list[Sum]:
        """Return the sum at each input of node ``index`` by ``state``."""
        if not self._order[index].ported:
            here, expected = self.order_of_contributions.arrived(index, state)
            if not expected:
                return []
            latest = self.order_of_contributions.some(index, max(0, here - MOST_SHOWN), here)
            return [Sum(0, here, expected, self._total(index, 0, state), latest)]
        per_input: dict[int, list[IncomingEdge]] = {}
        for source in self.order_of_contributions.sources(index):
            per_input.setdefault(source.input_nr, []).append(source)
        sums = []
        for nr, sources in sorted(per_input.items()):
            arrived = [source for source in sources if state.has_sent(*source[:2])]
            total = self._total(index, nr, state)
            sums.append(Sum(nr, len(arrived), len(sources), total, arrived[-MOST_SHOWN:]))
        return sums

    def _total(self, index: int, input_nr: int, state: PassState) -> Value | None:
        return self.values.of(self.total(index, input_nr, state))

    def total(self, index: int, input_nr: int, state: PassState) -> Gradient:
        """Return the sum at an input: what waits there, or what the node found when it ran."""
        if index < state.position or (index == state.position and state.inside):
            return self._history.shown(index).incoming[input_nr]
        places = self._places(self._order[index])
        at = (place for place in places if place.kind != PORT or place.nr == input_nr)
        place = next(at, None)
        return None if place is None else self._pending()[place]

    def _gradient(self, source: IncomingEdge) -> Gradient:
        if source.producer == SEED:
            return self._history.entered(self._seeds[source.output_nr])
        delivery = self._delivery(source.producer, source.output_nr)
        return None if delivery is None else delivery.gradient

    def _delivery(self, producer: int, output_nr: int) -> Delivery | None:
        """Return what a node sent along an edge, None where that is not known any more."""
        try:
            deliveries = self._history.shown(producer).deliveries
        except StepLost:
            return None
        # a node at which a call of grad ends sends nothing
        return deliveries[output_nr] if output_nr < len(deliveries) else None

    def outgoing(self, index: int, state: PassState) -> tuple[Outgoing, ...]:
        """List what node ``index`` sends along each edge, as far as it has by ``state``."""
        edges = self._order[index].edges
        graph = self._graph
        targets = {
            graph.edge_output_nrs[id]: (graph.edge_targets[id], graph.edge_input_nrs[id])
            for id in self.order_of_contributions.edges(index)
        }
        result = []
        for output_nr in range(len(edges)):
            target, input_nr = targets.get(output_nr, (None, 0))
            sent = state.has_sent(index, output_nr)
            delivery = self._delivery(index, output_nr) if sent else None
            g = None if delivery is None else delivery.gradient
            result.append(Outgoing(output_nr, target, input_nr, sent, self.values.of(g)))
        return tuple(result)

    # the running account

    def entries(
        self, index: int, input_nr: int, state: PassState, changes: Sequence[SumChange] = ()
    ) -> Iterator[LedgerEntry]:
        """Yield every contribution to one input so far, with the sum it made and what cancelled,
        and every change by the user.

        Values are handed out one by one, because together they may be larger than memory.
        """
        magnitudes: Any = 0
        total: Gradient = None
        waiting = deque(changes)
        for number, source in enumerate(self.order_of_contributions.sources(index)):
            if source.input_nr != input_nr or not state.has_sent(*source[:2]):
                continue
            while waiting and waiting[0].position <= source.producer:
                change = waiting.popleft()
                magnitudes = _sizes(change.total)
                yield _changed(change)
            g = self._gradient(source)
            if source.producer == SEED:
                total = g if total is None else total + g
            elif (delivery := self._delivery(*source[:2])) is not None:
                total = delivery.after
            if g is not None:
                magnitudes = magnitudes + _sizes(g)
            producer = None if source.producer == SEED else source.producer
            yield LedgerEntry(
                number,
                producer,
                source.output_nr,
                value(g),
                value(total),
                _remaining(total, magnitudes),
            )
        yield from map(_changed, waiting)


def _changed(change: SumChange) -> LedgerEntry:
    return LedgerEntry(-1, None, 0, None, value(change.total), 1.0, change.text)


def _remaining(total: Gradient, magnitudes: Any) -> float:
    """Compute how much of the parts is left in their sum: 1 when nothing cancelled, 0 when all
    did, NaN where that was not recorded."""
    if total is None:
        return 1.0
    parts = float(np.sum(magnitudes, dtype=np.float64))
    return float(np.sum(_sizes(total), dtype=np.float64)) / parts if parts else 1.0


def _sizes(gradient: Gradient) -> Any:
    """Return the magnitudes of the elements, NaN where they were not recorded, or cannot be
    read."""
    try:
        array = array_of(gradient)
    except NotRecorded:
        return nan
    return nan if array is None else np.abs(array)
