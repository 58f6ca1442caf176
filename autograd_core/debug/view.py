"""From the recording to the records that faces show."""

from __future__ import annotations

import linecache
from collections.abc import Sequence

import numpy as np

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.engine import Step
from autograd_core.autograd.node import Node
from autograd_core.dag.backward import is_number
from autograd_core.dag.model import Graph, Source
from autograd_core.debug.ledger import Ledger, value
from autograd_core.debug.snapshot import (
    LeafGradient,
    NodeDetail,
    Pending,
    Saved,
    Value,
)
from autograd_core.tensor import Tensor


class Inspector:
    """Describes nodes, leaves and waiting sums at any position of a recording."""

    def __init__(
        self, order: Sequence[Node], graph: Graph, ledger: Ledger, history: Sequence[Step]
    ) -> None:
        self._order = order
        self._graph = graph
        self._ledger = ledger
        self._history = history
        self._leaves = {
            index: _copied(node.variable.grad)
            for index, node in enumerate(order)
            if isinstance(node, AccumulateGrad)
        }
        self._after: dict[int, Value | None] = {}
        self._at = 0
        self._waiting = {index for index in range(len(order)) if ledger.arrived(index, 0)[0]}
        self._bytes = self._counted = 0

    def detail(self, index: int, position: int) -> NodeDetail:
        """All that is known about node ``index`` at ``position``."""
        node = self._order[index]
        return NodeDetail(
            index=index,
            status="done" if index < position else "current" if index == position else "waiting",
            incoming=self._ledger.incoming(index, self._history, position),
            outgoing=self._ledger.outgoing(index, self._history, position),
            saved=tuple(_saved(node)),
            formulas=node.formulas(),
            hooks=() if node.hooks is None else node.hooks.names(),
            source_line=source_line(self._graph.sources.get(index)),
        )

    def leaves(self, position: int) -> tuple[LeafGradient, ...]:
        """The ``.grad`` of every leaf at ``position``, in the order in which they are done."""
        return tuple(self._leaf(index, position) for index in self._leaves)

    def leaf(self, index: int, position: int) -> LeafGradient | None:
        """The ``.grad`` of the leaf at node ``index``, None if that is no leaf's node."""
        return self._leaf(index, position) if index in self._leaves else None

    def _leaf(self, index: int, position: int) -> LeafGradient:
        node = self._order[index]
        arrived, expected = self._ledger.arrived(index, position)
        before = self._leaves[index]
        done = index < position
        pending = None
        if not done and arrived:
            pending = self._ledger.incoming(index, self._history, position)[0].total
        return LeafGradient(
            index=index,
            name=self._graph.variables.get(index) or self._graph.address(index),
            shape=node.output_shape,
            before=before,
            now=self._now(index) if done else before,
            pending=pending,
            arrived=arrived,
            expected=expected,
        )

    def _now(self, index: int) -> Value | None:
        if index not in self._after:
            self._after[index] = value(self._history[index].after)
        return self._after[index]

    def pending(self, position: int) -> tuple[Pending, ...]:
        """The sums that wait at ``position`` for a node that has not run."""
        self._move_to(position)
        return tuple(
            Pending(index, each.input_nr, len(each.contributions), each.expected, each.total)
            for index in sorted(self._waiting)
            for each in self._ledger.incoming(index, self._history, position)
            if each.total is not None
        )

    def _move_to(self, position: int) -> None:
        """Bring the set of nodes that wait for a turn from where it was to ``position``, which
        costs what was moved, not what was run."""
        while self._at < position:
            self._waiting.discard(self._at)
            self._waiting.update(self._ledger.targets(self._at))
            self._at += 1
        while self._at > position:
            self._at -= 1
            for target in self._ledger.targets(self._at):
                if self._ledger.arrived(target, self._at)[0] == 0:
                    self._waiting.discard(target)
            if self._ledger.arrived(self._at, self._at)[0]:
                self._waiting.add(self._at)

    def bytes_recorded(self) -> int:
        """What the recording keeps alive, at most: gradients that share memory count twice."""
        for step in self._history[self._counted :]:
            for delivery in step.deliveries:
                self._bytes += int(getattr(delivery.gradient, "nbytes", 0))
        self._counted = len(self._history)
        return self._bytes


def _copied(grad: Tensor | None) -> Value | None:
    return None if grad is None else Value(grad.array.copy())


def _saved(node: Node) -> list[Saved]:
    shown = []
    for name, kept, state in node.saved():
        if kept is None:
            shown.append(Saved(name, (), "", 0, "freed", None))
        elif not is_number(kept):
            found = value(kept)
            assert found is not None
            array: np.ndarray[tuple[int, ...], np.dtype[np.generic]] = found.array
            shown.append(Saved(name, array.shape, array.dtype.name, array.nbytes, state, found))
    return shown


def source_line(source: Source | None) -> str:
    """The text of the forward line, "" when it cannot be read."""
    return "" if source is None else linecache.getline(source.file, source.line).strip()
