"""The ``.grad`` of each leaf, at every position of a pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradstep.debugger.history.contributions import ContributionOrder, PassState
from gradstep.debugger.passes.cursor import Cursor
from gradstep.debugger.snapshot import LeafGradient
from gradstep.debugger.snapshot.value import Value, Values
from gradstep.graph.model import Graph
from gradstep.records import LEAF, Node

# A moment of the pass: what node k did is there from (k + 1, 0) on, what the user changed at
# position p from (p, 1) on.
Time = tuple[int, int]


class LeafHistory:
    """The ``.grad`` of the leaves of a pass: the node of a leaf adds to it, and hooks, the
    ``backward`` of custom Functions and the user may change it."""

    def __init__(self, cursor: Cursor, values: Values) -> None:
        self._cursor = cursor
        self._values = values
        order = cursor.driver.order
        self.leaves = tuple(index for index, node in enumerate(order) if node.kind == LEAF)

    def before(self, index: int) -> Value | None:
        """Return the ``.grad`` of the leaf at node ``index`` before the pass."""
        return self._values.of(self._cursor.driver.leaves.grad_before(index))

    def at(self, index: int, position: int) -> Value | None:
        """Return the ``.grad`` of the leaf at node ``index``, where the cursor stands at
        ``position``."""
        return self._latest(index, (position, 1))[1]

    def change(self, index: int, position: int) -> tuple[Value | None, Value | None] | None:
        """Return what the node before ``position`` made of what; None if it left this ``.grad``
        alone."""
        time, new = self._latest(index, (position, 0))
        if time != (position, 0):
            return None
        old = self._latest(index, (position - 1, 1))[1]
        return None if old == new else (old, new)

    def _latest(self, index: int, until: Time) -> tuple[Time, Value | None]:
        """Return the last value up to then, and since when it holds."""
        cursor = self._cursor
        gradients: list[tuple[Time, Any]] = []
        if (index + 1, 0) <= until:
            gradients.append(((index + 1, 0), cursor.history.shown(index).after))
        changes = cursor.driver.state.changed_gradients.get(index, {})
        for node in reversed(changes):
            if (node + 1, 0) <= until:
                gradients.append(((node + 1, 0), changes[node]))
                break
        for position, gradient in cursor.edits.of_leaf(index):
            if (position, 1) <= until:
                gradients.append(((position, 1), gradient))
        if not gradients:
            return (0, 0), self.before(index)
        time, gradient = max(gradients, key=lambda pair: pair[0])
        return time, self._values.of(gradient)


class UntouchedLeaves:
    """The leaves as they are until the pass comes to them, each described when it is asked for."""

    def __init__(
        self,
        graph: Graph,
        gradients: LeafHistory,
        order: Sequence[Node],
        contributions: ContributionOrder,
    ) -> None:
        self._graph, self._gradients = graph, gradients
        self._order, self._contributions = order, contributions
        self._made: dict[int, LeafGradient] = {}

    def __call__(self, index: int) -> LeafGradient:
        """Return the leaf at node ``index``."""
        row = self._made.get(index)
        if row is None:
            before = self._gradients.before(index)
            name, shape = leaf_name(self._graph, index), self._order[index].output_shape
            _, expected = self._contributions.arrived(index, PassState(0))
            row = LeafGradient(index, name, shape, before, before, None, 0, expected)
            self._made[index] = row
        return row


def leaf_name(graph: Graph, index: int) -> str:
    """Return what the leaf at node ``index`` is called."""
    return graph.variables.get(index) or graph.address(index)
