"""The ``.grad`` of each leaf, at every position of a pass."""

from __future__ import annotations

from typing import Any

from autograd_core.autograd.node import LEAF
from autograd_core.debug.passes.cursor import Cursor
from autograd_core.debug.snapshot.value import Value, Values

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
        return self._values.of(self._cursor.driver.grad_before(index))

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
        found: list[tuple[Time, Any]] = []
        if (index + 1, 0) <= until:
            found.append(((index + 1, 0), cursor.history.shown(index).after))
        changes = cursor.driver.changed_gradients.get(index, {})
        for node in reversed(changes):
            if (node + 1, 0) <= until:
                found.append(((node + 1, 0), changes[node]))
                break
        for position, gradient in cursor.edits.of_leaf(index):
            if (position, 1) <= until:
                found.append(((position, 1), gradient))
        if not found:
            return (0, 0), self.before(index)
        time, gradient = max(found, key=lambda pair: pair[0])
        return time, self._values.of(gradient)
