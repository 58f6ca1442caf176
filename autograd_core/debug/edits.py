"""Changes by the user: gradients that wait are set, scaled, clipped or zeroed, edges and hooks
are muted, and the pass goes on from there.

An edit belongs to a position.  Going back past it takes it back, going forward makes it again;
what had been recorded behind it when it was made is dropped, and runs anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from autograd_core.autograd.backward import pass_mode
from autograd_core.autograd.engine import Step
from autograd_core.autograd.firing import before_node
from autograd_core.autograd.node import LEAF, Port
from autograd_core.debug.driver_protocol import Driver, Pending, Place
from autograd_core.debug.snapshot import EditRecord
from autograd_core.tensor import Tensor

Change = Callable[[Any], Any]
Leaves = dict[int, Any]  # the .grad of leaves after a pass, by plan index


class EditError(ValueError):
    """The change cannot be made here; the text says why, and where it could."""


class Edit(NamedTuple):
    """A change: of the gradient that waits at ``place``, or, silencing ``edge`` (node, output) or
    ``hook`` (node, id), of what a node will do."""

    record: EditRecord
    place: Place | None = None
    change: Change | None = None
    edge: tuple[int, int] | None = None
    hook: tuple[int, int] | None = None


class Edits:
    """The edits in the order in which they were made, and what they replaced."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._edits: list[Edit] = []
        self._replaced: dict[int, Any] = {}
        self.baseline: Baseline | None = None

    def __len__(self) -> int:
        return len(self._edits)

    @property
    def last(self) -> Edit | None:
        return self._edits[-1] if self._edits else None

    @property
    def records(self) -> tuple[EditRecord, ...]:
        return tuple(edit.record for edit in self._edits)

    def next_position(self, start: int, stop: int) -> int:
        """The first position of an edit behind ``start``, ``stop`` if there is none before."""
        behind = (e.record.position for e in self._edits if start < e.record.position < stop)
        return min(behind, default=stop)

    def add(self, edit: Edit) -> None:
        """Make ``edit``, at the position where the pass stands."""
        if edit.place is not None:
            self._apply(edit, self._driver.pending)
        if edit.edge is not None:
            self._driver.muted_edges.add(edit.edge)
        if edit.hook is not None:
            self._driver.muted_hooks.add(edit.hook)
        self._edits.append(edit)

    def pop(self) -> Edit:
        """Take the last edit back; the pass stands at its position, or has not reached it."""
        edit = self._edits.pop()
        if edit.place is not None and edit.record.number in self._replaced:
            self._driver.pending[edit.place] = self._replaced.pop(edit.record.number)
        if edit.edge is not None:
            self._driver.muted_edges.discard(edit.edge)
        if edit.hook is not None:
            self._driver.muted_hooks.discard(edit.hook)
        if not self._edits:
            self.baseline = None
        return edit

    def arrive(self, position: int) -> None:
        """Make the edits of ``position`` again."""
        for edit in self._edits:
            if edit.record.position == position and edit.place is not None:
                self._apply(edit, self._driver.pending)

    def leave(self, position: int) -> None:
        """Take back the edits of ``position``."""
        for edit in reversed(self._edits):
            if edit.record.position == position and edit.place is not None:
                self._driver.pending[edit.place] = self._replaced.pop(edit.record.number)

    def amend(self, position: int, pending: Pending) -> None:
        """Make the edits of ``position`` on a copy of what waits there."""
        for edit in self._edits:
            if edit.record.position == position and edit.place is not None and edit.change:
                pending[edit.place] = edit.change(pending[edit.place])

    def _apply(self, edit: Edit, pending: Pending) -> None:
        assert edit.place is not None
        assert edit.change is not None
        before = pending[edit.place]
        pending[edit.place] = edit.change(before)
        self._replaced[edit.record.number] = before


# -- changes -----------------------------------------------------------------------------------


def setting(value: Any, shape: tuple[int, ...], dtype: Any, graph: bool) -> Change:
    """Replace the gradient by ``value``, a number, array or tensor that broadcasts to its shape.

    Raises:
        EditError: it does not.
    """
    given = np.asarray(value.array if isinstance(value, Tensor) else value)
    try:
        array = np.array(np.broadcast_to(given, shape), dtype)
    except ValueError:
        raise EditError(
            f"a value of shape {list(given.shape)} does not fit a gradient of shape {list(shape)}"
        ) from None
    return lambda g: Tensor.from_array(array.copy()) if graph else array.copy()


def computing(function: Callable[[Any], Any]) -> Change:
    """Put the gradient's array through ``function``."""

    def change(g: Any) -> Any:
        tensor = isinstance(g, Tensor)
        array = np.asarray(g.array if tensor else g)
        with np.errstate(all="ignore"):
            changed = np.asarray(function(array)).astype(array.dtype)
        return Tensor.from_array(changed) if tensor else changed

    return change


# -- the difference ----------------------------------------------------------------------------


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


def place_of(driver: Driver, index: int, input_nr: int) -> Place:
    """The buffer at input ``input_nr`` of plan node ``index``.

    Raises:
        EditError: there is none.
    """
    node = driver.order[index]
    places: Sequence[Place] = driver.places(node)
    for place in places:
        if (place.nr if isinstance(place, Port) else 0) == input_nr:
            return place
    raise EditError(f"node #{index} has no input {input_nr}")
