"""The changes that a user has made: gradients that wait, or the ``.grad`` of a leaf, are set,
scaled, clipped or zeroed, edges and hooks are muted, and the pass goes on from there.

An edit belongs to a position.  Going back past it undoes it, going forward makes it again;
what had been recorded behind it when it was made is dropped, and runs anew.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from gradstep.debugger.edits.changes import Change, place_of
from gradstep.debugger.edits.difference import Baseline
from gradstep.debugger.history.ledger import SumChange
from gradstep.debugger.snapshot import EditRecord
from gradstep.debugger.snapshot.value import array_of
from gradstep.engines.driver import Driver, Pending
from gradstep.records import Place


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
        self._mute()
        if not self._edits:
            self.baseline = None
        return edit

    def _mute(self) -> None:
        """Let the driver mute what the last word on it mutes."""
        edges = {edit.edge: edit.muted for edit in self._edits if edit.edge is not None}
        hooks = {edit.hook: edit.muted for edit in self._edits if edit.hook is not None}
        self._driver.muted_edges = {edge for edge, muted in edges.items() if muted}
        self._driver.muted_hooks = {hook for hook, muted in hooks.items() if muted}

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
            before = self._driver.pending[edit.place]
            after = self._driver.pending[edit.place] = edit.change(before)
        else:
            assert edit.leaf is not None
            before = self._driver.grad(edit.leaf)
            grad = edit.change(before)
            self._driver.set_grad(edit.leaf, grad)
            after = None if grad is None else array_of(grad).copy()
        self._made[edit.record.number] = _Made(edit, before, after)

    def _undo(self, edit: Edit) -> None:
        change = self._made.pop(edit.record.number, None)
        if change is None:
            return
        if edit.place is not None:
            self._driver.pending[edit.place] = change.before
        else:
            assert change.edit.leaf is not None
            self._driver.set_grad(change.edit.leaf, change.before)

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
