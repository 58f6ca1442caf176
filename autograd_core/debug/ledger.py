"""Who contributes what to which sum: known from the plan before anything has run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd_core.autograd.engine import Step
from autograd_core.autograd.node import Node, resolve
from autograd_core.dag.backward import input_shape
from autograd_core.debug.snapshot import Contribution, Incoming, Outgoing, Value
from autograd_core.tensor import Tensor

Gradient = Any


class Source(NamedTuple):
    """An edge that leads to an input: from plan node ``producer`` (None: a seed)."""

    producer: int | None
    output_nr: int
    seed: Gradient = None


class Ledger:
    """Every contribution to every sum, in the order in which they arrive.

    ``sources[index]`` lists, per input of plan node ``index``, the edges that lead there.  As
    nodes run in plan order, that is the order of arrival too.
    """

    def __init__(
        self, order: Sequence[Node], roots: Sequence[Tensor], seeds: Sequence[Gradient]
    ) -> None:
        self.order = order
        self.index: Mapping[Node, int] = {node: index for index, node in enumerate(order)}
        self._values = Values()
        self.sources: list[dict[int, list[Source]]] = [{} for _ in order]
        for root, seed in zip(roots, seeds, strict=True):
            node, nr = resolve(root.edge)
            if node is not None and node in self.index:
                self._add(self.index[node], nr, Source(None, 0, seed))
        for producer, node in enumerate(order):
            for output_nr, edge in enumerate(node.edges):
                target, input_nr = resolve(edge)
                if target is not None and target in self.index:
                    self._add(self.index[target], input_nr, Source(producer, output_nr))

    def _add(self, target: int, input_nr: int, source: Source) -> None:
        self.sources[target].setdefault(input_nr, []).append(source)

    def incoming(self, index: int, history: Sequence[Step], position: int) -> tuple[Incoming, ...]:
        """What arrived at node ``index`` by ``position``, per input, with its sum."""
        return tuple(
            self._incoming(index, input_nr, sources, history, position)
            for input_nr, sources in sorted(self.sources[index].items())
        )

    def _incoming(
        self,
        index: int,
        input_nr: int,
        sources: list[Source],
        history: Sequence[Step],
        position: int,
    ) -> Incoming:
        contributions: list[Contribution] = []
        total: Gradient = None
        for source in sources:
            if source.producer is not None and source.producer >= position:
                continue
            g = source.seed
            if source.producer is not None:
                g = history[source.producer].deliveries[source.output_nr].gradient
            contributions.append(
                Contribution(source.producer, source.output_nr, self._values.of(g))
            )
            if g is not None:
                total = g if total is None else total + g
        if index < position:
            total = history[index].incoming[input_nr]
        recorded = index < position or len(contributions) < 2
        shown = self._values.of(total) if recorded else value(total)
        shape = input_shape(self.order[index], input_nr)
        return Incoming(input_nr, shape, len(sources), tuple(contributions), shown)

    def targets(self, index: int) -> list[int]:
        """The plan nodes that node ``index`` sends gradients to."""
        found = (resolve(edge)[0] for edge in self.order[index].edges)
        return [
            self.index[target] for target in found if target is not None and target in self.index
        ]

    def arrived(self, index: int, position: int) -> tuple[int, int]:
        """How many contributions node ``index`` has had by ``position``, and of how many."""
        sources = [source for per_input in self.sources[index].values() for source in per_input]
        here = sum(s.producer is None or s.producer < position for s in sources)
        return here, len(sources)

    def outgoing(self, index: int, history: Sequence[Step], position: int) -> tuple[Outgoing, ...]:
        """What node ``index`` sends along each edge, if it has run by ``position``."""
        sent = index < position
        result = []
        for output_nr, edge in enumerate(self.order[index].edges):
            target, input_nr = resolve(edge)
            gradient = history[index].deliveries[output_nr].gradient if sent else None
            place = None if target is None else self.index.get(target)
            result.append(Outgoing(output_nr, place, input_nr, sent, self._values.of(gradient)))
        return tuple(result)


class Values:
    """The Value of each gradient, made once, so that its statistics are computed once."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Gradient, Value | None]] = {}

    def of(self, gradient: Gradient) -> Value | None:
        """The Value of a gradient that the recording keeps."""
        found = self._made.get(id(gradient))
        if found is None:
            # kept beside its Value, because an id is only good while its object lives
            found = self._made[id(gradient)] = (gradient, value(gradient))
        return found[1]


def value(gradient: Gradient) -> Value | None:
    """A gradient, or a tensor, as the debugger shows it."""
    if gradient is None:
        return None
    array = np.asarray(gradient.array if isinstance(gradient, Tensor) else gradient)
    shown = array.view()
    shown.flags.writeable = False
    return Value(shown)
