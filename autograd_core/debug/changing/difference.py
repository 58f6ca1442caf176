"""What edits have changed: the ``.grad`` of every leaf, against the run without any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autograd_core.autograd.call import pass_mode
from autograd_core.autograd.firing import before_node
from autograd_core.autograd.node import LEAF
from autograd_core.autograd.step import Step
from autograd_core.debug.recording.driver_protocol import Driver, Pending
from autograd_core.tensor import Tensor

Leaves = dict[int, Any]  # the .grad of leaves after a pass, by plan index


class LeafDifference(NamedTuple):
    """How the ``.grad`` of a leaf differs from that of the unedited run: norm and largest element
    of the difference, and its norm relative to that of the unedited gradient (infinite where
    this is zero).  All None for a leaf that has not run yet, or has no gradient in one of them.
    """

    index: int  # type: ignore[assignment]  # the field hides a method of tuples, on purpose
    name: str
    norm: float | None
    maximum: float | None
    relative: float | None


class Baseline:
    """The run without any edit, from the position of the first one on.

    What had been recorded of it is remembered; the rest runs on a pass of its own when somebody
    asks, which calls hooks once more (see ``called``).
    """

    def __init__(self, position: int, pending: Pending) -> None:
        self.position = position
        self._pending = _copied(pending)
        self._leaves: Leaves = {}
        self.called: tuple[str, ...] = ()

    def begin(self, position: int, pending: Pending) -> None:
        """Begin earlier: an edit was made before the first one."""
        self.position, self._pending = position, _copied(pending)

    def remember(self, step: Step) -> None:
        """Take note of an unedited step that is about to be dropped."""
        if step.node.kind == LEAF:
            self._leaves[step.index] = step.after

    def leaves(self, driver: Driver, before: Callable[[int], Any]) -> Leaves:
        """The ``.grad`` of each leaf from ``position`` on; ``before`` gives what it held."""
        wanted = [
            index
            for index in range(self.position, len(driver.order))
            if driver.order[index].kind == LEAF
        ]
        if any(index not in self._leaves for index in wanted):
            self._run(driver, before)
        return self._leaves

    def _run(self, driver: Driver, before: Callable[[int], Any]) -> None:
        own = driver.fork(dict(self._pending))
        own.muted_edges, own.muted_hooks, own.intercept = set(), set(), None
        called: list[str] = []
        with driver.as_before(self.position):
            for index in range(self.position, len(driver.order)):
                node = driver.order[index]
                if node.kind == LEAF:
                    with pass_mode(driver.call.graph):
                        (g,) = before_node(node, (own.pending[node],), driver.call.graph)
                    self._leaves[index] = _sum(before(index), g)
                else:
                    own.execute(index)
                if index in own.around:
                    called += [call.name for call in own.around[index].calls]
                    own.around[index].before.restore()
        self.called = tuple(dict.fromkeys(called))


def _copied(pending: Pending) -> Pending:
    return {place: g for place, g in pending.items() if g is not None}


def _sum(before: Any, g: Any) -> Any:
    if g is None:
        return before
    array = np.asarray(g.array if isinstance(g, Tensor) else g)
    return array if before is None else before + array


def leaf_difference(index: int, name: str, now: Any, unedited: Any) -> LeafDifference:
    """Compare two values of one leaf's ``.grad``, arrays or None."""
    if now is None or unedited is None:
        return LeafDifference(index, name, None, None, None)
    delta = np.asarray(now, np.float64) - np.asarray(unedited, np.float64)
    norm, base = _norm(delta), _norm(np.asarray(unedited, np.float64))
    relative = norm / base if base else (np.inf if norm else 0.0)
    return LeafDifference(index, name, norm, float(np.abs(delta).max(initial=0.0)), float(relative))


def _norm(array: Any) -> float:
    largest = float(np.abs(array).max(initial=0.0))
    if not largest or not np.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.sum((array / largest) ** 2)))
