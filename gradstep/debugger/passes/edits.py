"""The changes that a user has made: gradients that wait, or the ``.grad`` of a leaf, are set,
scaled, clipped or zeroed, edges and hooks are muted, and the pass goes on from there.

An edit belongs to a position.  Going back past it undoes it, going forward makes it again;
what had been recorded behind it when it was made is dropped, and runs anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gradstep.contract.driver import Driver, Pending, Rerunning
from gradstep.contract.lookup import is_tensor
from gradstep.debugger.errors import EditError
from gradstep.debugger.history.ledger import SumChange
from gradstep.debugger.passes.difference import Baseline
from gradstep.debugger.snapshot import EditRecord
from gradstep.debugger.snapshot.value import array_of
from gradstep.graph.addresses import step_number
from gradstep.records import PORT, Place

Change = Callable[[Any], Any]


def changing(driver: Driver) -> Rerunning:
    """Return what makes changes in a pass, which is not read-only."""
    assert driver.rerunning is not None
    return driver.rerunning


class Kind(NamedTuple):
    """What kind of gradient is changed: that of an input of node ``index``, or of its leaf."""

    driver: Driver
    index: int  # type: ignore[assignment]  # the field hides a method of tuples, on purpose
    input_nr: int = 0
    grad: bool = False

    def of(self, array: Any) -> Any:
        """Return a gradient of these numbers."""
        return changing(self.driver).gradient(array, self.index, self.input_nr, grad=self.grad)


def setting(value: Any, shape: tuple[int, ...], kind: Kind) -> Change:
    """Replace the gradient by ``value``, a number, array or tensor that broadcasts to its shape.

    Raises:
        EditError: it does not.
    """
    given = kind.driver.leaves.numbers(value) if is_tensor(value) else np.asarray(value)
    try:
        array = np.array(np.broadcast_to(given, shape))
    except ValueError:
        raise EditError(
            f"a value of shape {list(given.shape)} does not fit a gradient of shape {list(shape)}"
        ) from None
    return lambda g: kind.of(array)


def computing(function: Callable[[Any], Any], kind: Kind) -> Change:
    """Put the gradient's array through ``function``; an undefined gradient stays undefined."""

    def change(g: Any) -> Any:
        if g is None:  # it had arrived when the change was made, and an edge was muted since
            return None
        array = kind.driver.leaves.numbers(g)
        with np.errstate(all="ignore"):
            return kind.of(np.asarray(function(array)).astype(array.dtype))

    return change


def place_of(driver: Driver, index: int, input_nr: int) -> Place:
    """Return the buffer at input ``input_nr`` of plan node ``index``.

    Raises:
        EditError: there is none.
    """
    node = driver.order[index]
    places: Sequence[Place] = driver.state.places(node)
    for place in places:
        if (place.nr if place.kind == PORT else 0) == input_nr:
            return place
    raise EditError(f"node {step_number(index)} has no input {input_nr}")


class Edit(NamedTuple):
    """A change: of the gradient that waits at ``place``, of the ``.grad`` of the leaf at node
    ``leaf``, or of what a node will do: whether its ``edge`` (node, output) or ``hook`` (node, id)
    is ``muted``."""

    record: EditRecord
    place: Place | None = None
    leaf: int | None = None
    change: Change | None = None
    edge: tuple[int, int] | None = None
    hook: tuple[int, int] | None = None
    muted: bool = True


class _Made(NamedTuple):
    """An edit that holds where the pass stands: what it replaced, and by what."""

    edit: Edit
    before: Any
    after: Any


class Edits:
    """The edits in the order in which they were made, and what they replaced."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._edits: list[Edit] = []
        self._made: dict[int, _Made] = {}
        self._gradients: dict[int, tuple[Any, Any]] = {}  # each .grad that was made, and of what
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
        """Return the first position of an edit behind ``start``, ``stop`` if there is none
        before."""
        behind = (e.record.position for e in self._edits if start < e.record.position < stop)
        return min(behind, default=stop)

    # making and undoing

    def add(self, edit: Edit) -> None:
        """Make ``edit``, at the position where the pass stands."""
        self._make(edit)
        self._edits.append(edit)
        self._mute()

    def pop(self) -> Edit:
        """Undo the last edit; the pass stands at its position, or has not reached it."""
        edit = self._edits.pop()
        self._undo(edit)
        self._gradients.pop(edit.record.number, None)
        self._mute()
        if not self._edits:
            self.baseline = None
        return edit

    def _mute(self) -> None:
        """Let the driver mute what the last word on it mutes."""
        edges = {edit.edge: edit.muted for edit in self._edits if edit.edge is not None}
        hooks = {edit.hook: edit.muted for edit in self._edits if edit.hook is not None}
        rerunning = changing(self._driver)
        rerunning.muted_edges = {edge for edge, muted in edges.items() if muted}
        rerunning.muted_hooks = {hook for hook, muted in hooks.items() if muted}

    def arrive(self, position: int) -> None:
        """Make the edits of ``position`` again."""
        for edit in self._edits:
            if edit.record.position == position:
                self._make(edit)

    def leave(self, position: int) -> None:
        """Undo the edits of ``position``."""
        for edit in reversed(self._edits):
            if edit.record.position == position:
                self._undo(edit)

    def amend(self, position: int, pending: Pending) -> None:
        """Make the edits of ``position`` on a copy of what waits there."""
        for edit in self._edits:
            if edit.record.position == position and edit.place is not None and edit.change:
                pending[edit.place] = edit.change(pending.get(edit.place))

    def _make(self, edit: Edit) -> None:
        if edit.change is None:
            return
        before: Any
        if edit.place is not None:
            before = self._driver.state.pending[edit.place]
            after = self._driver.state.pending[edit.place] = edit.change(before)
        else:
            assert edit.leaf is not None
            before = self._driver.leaves.grad(edit.leaf)
            of, grad = self._gradients.get(edit.record.number, (self, None))
            if of is not before:  # an engine that has halted would take another for a hook's
                grad = edit.change(before)
                self._gradients[edit.record.number] = before, grad
            changing(self._driver).set_grad(edit.leaf, grad)
            array = None if grad is None else array_of(grad)
            after = None if array is None else array.copy()
        self._made[edit.record.number] = _Made(edit, before, after)

    def _undo(self, edit: Edit) -> None:
        change = self._made.pop(edit.record.number, None)
        if change is None:
            return
        if edit.place is not None:
            self._driver.state.pending[edit.place] = change.before
        else:
            assert change.edit.leaf is not None
            changing(self._driver).set_grad(change.edit.leaf, change.before)

    # what holds where the pass stands

    @property
    def leaves(self) -> list[int]:
        """The leaves whose ``.grad`` is edited, here or elsewhere."""
        return [edit.record.index for edit in self._edits if edit.leaf is not None]

    def of_leaf(self, index: int) -> list[tuple[int, Any]]:
        """List what the ``.grad`` of the leaf at plan node ``index`` was changed to, and at which
        positions, up to here."""
        return [
            (change.edit.record.position, change.after)
            for change in self._made.values()
            if change.edit.leaf is not None and change.edit.record.index == index
        ]

    def of_sum(self, index: int, input_nr: int) -> list[SumChange]:
        """List what was done to the sum at an input of plan node ``index``."""
        changes = [change for change in self._made.values() if change.edit.record.index == index]
        place = place_of(self._driver, index, input_nr) if changes else None
        return [
            SumChange(change.edit.record.position, change.edit.record.text, change.after)
            for change in changes
            if change.edit.place is not None and change.edit.place == place
        ]
