"""The changes that a user may make, as methods: ``session.edit.scale(3, 0.5)``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gradstep.capturing.backward import input_shape
from gradstep.debugger.errors import EditError
from gradstep.debugger.passes.cursor import Cursor
from gradstep.debugger.passes.difference import Baseline, LeafDifference, leaf_difference
from gradstep.debugger.passes.edits import (
    Change,
    Edit,
    Kind,
    changing,
    computing,
    place_of,
    setting,
)
from gradstep.debugger.snapshot import EditRecord, LeafGradient
from gradstep.debugger.snapshot.value import array_of
from gradstep.debugger.snapshot.wording import restore_text
from gradstep.graph.addresses import all_step_numbers, step_number
from gradstep.records import LEAF, Node, Place
from gradstep.text import plural


class Edited(NamedTuple):
    """The outcome of a change: how many recorded steps were dropped, and which nodes with user
    code among them will run it again."""

    record: EditRecord
    dropped: int
    again: tuple[int, ...]
    restore_note: str

    @property
    def text(self) -> str:
        """One or two sentences for the console."""
        sentences = [self.record.text]
        if self.dropped:
            run = "it runs" if self.dropped == 1 else "they run"
            sentences.append(f"{plural(self.dropped, 'recorded step')} dropped; {run} again")
        if self.again:
            sentences.append(restore_text(self.again, "are called again", self.restore_note))
        return "; ".join(sentences)


class _Sum(NamedTuple):
    """The target of a change: a sum that waits at ``place``, or the ``.grad`` of the leaf at node
    ``leaf``."""

    index: int  # type: ignore[assignment]  # the field hides a method of tuples, on purpose
    name: str
    shape: Any
    kind: Kind
    place: Place | None = None
    leaf: int | None = None


def _mute_text(what: str, before: bool, muted: bool) -> str:
    """Name the change; it must be one."""
    if before == muted:
        raise EditError(f"{what} is {'muted already' if muted else 'not muted'}")
    return f"{'mute' if muted else 'unmute'} {what}"


class Editor:
    """Changes a pass at the position where it stands; see the methods.

    A node is named by its plan index; gradients are changed where they wait, so at the current
    node or one behind it.  Everything raises :class:`EditError` where it cannot be done.
    """

    def __init__(
        self,
        cursor: Cursor,
        leaf: Callable[[int], LeafGradient | None],
        edited: Callable[[tuple[int, ...]], None],
    ) -> None:
        self._cursor = cursor
        self._leaf = leaf
        self._edited = edited  # told which sums were changed
        self._count = 0

    @property
    def records(self) -> tuple[EditRecord, ...]:
        """The edits that hold."""
        return self._cursor.edits.records

    # gradients

    def set(self, index: int, value: Any, input_nr: int = 0, *, grad: bool = False) -> Edited:
        """Replace what waits at an input; ``value`` broadcasts to its shape.

        With ``grad`` it is the ``.grad`` of a leaf that has run, here and in what follows.
        """
        sum_ = self._sum(index, input_nr, grad)
        change = setting(value, sum_.shape, sum_.kind)
        return self._change(sum_, change, f"set {sum_.name}")

    def scale(self, index: int, factor: float, input_nr: int = 0, *, grad: bool = False) -> Edited:
        """Multiply what waits at an input; ``grad`` as for :meth:`set`."""
        sum_ = self._arrived(index, input_nr, grad)
        change = computing(lambda g: g * factor, sum_.kind)
        return self._change(sum_, change, f"scale {sum_.name} by {factor:g}")

    def clip(self, index: int, limit: float, input_nr: int = 0, *, grad: bool = False) -> Edited:
        """Limit every element of what waits at an input to -limit … limit; ``grad`` as for
        :meth:`set`."""
        if not limit >= 0:
            raise EditError(f"a limit cannot be {limit:g}: use 0 or more")
        sum_ = self._arrived(index, input_nr, grad)
        change = computing(lambda g: np.clip(g, -limit, limit), sum_.kind)
        return self._change(sum_, change, f"clip {sum_.name} to {limit:g}")

    def zero(self, index: int, input_nr: int = 0, *, grad: bool = False) -> Edited:
        """Make what waits at an input zero; ``grad`` as for :meth:`set`."""
        sum_ = self._arrived(index, input_nr, grad)
        return self._change(sum_, computing(np.zeros_like, sum_.kind), f"zero {sum_.name}")

    def _sum(self, index: int, input_nr: int, grad: bool) -> _Sum:
        if grad:
            return self._leaf_sum(index)
        self._require_ahead(index)
        driver = self._cursor.driver
        node, name = driver.order[index], step_number(index)
        place = place_of(driver, index, input_nr)
        return _Sum(
            index,
            name if input_nr == 0 else f"{name} input {input_nr}",
            input_shape(node, input_nr),
            Kind(driver, index, input_nr),
            place=place,
        )

    def _leaf_sum(self, index: int) -> _Sum:
        self._require_live(index)
        leaf = self._leaf(index)
        if leaf is None:
            raise EditError(f"node {step_number(index)} is not a leaf, and has no .grad")
        if index >= self._cursor.position:
            raise EditError(
                f"{leaf.name} has not run: change what arrives there, "
                f"or its .grad behind {step_number(index)}"
            )
        kind = Kind(self._cursor.driver, index, grad=True)
        return _Sum(index, f"{leaf.name}.grad", leaf.shape, kind, leaf=index)

    def _arrived(self, index: int, input_nr: int, grad: bool) -> _Sum:
        sum_ = self._sum(index, input_nr, grad)
        self._cursor.leave_node()
        if sum_.leaf is not None and self._cursor.driver.leaves.grad(sum_.leaf) is None:
            raise EditError(f"{sum_.name} is None")
        if sum_.place is not None and self._cursor.driver.state.pending[sum_.place] is None:
            raise EditError(f"nothing has arrived at {sum_.name} yet")
        return sum_

    def _change(self, sum_: _Sum, change: Change, text: str) -> Edited:
        record = self._record(sum_.index, text)
        edit = Edit(record, sum_.place, sum_.leaf, change)
        return self._make(edit, () if sum_.place is None else (sum_.index,))

    # silence

    def mute_edge(self, index: int, output_nr: int, *, muted: bool = True) -> Edited:
        """Let node ``index`` send nothing along an edge; or, not ``muted``, send again."""
        self._require_ahead(index)
        edges = self._cursor.driver.order[index].edges
        if not 0 <= output_nr < len(edges) or edges[output_nr] is None:
            raise EditError(f"node {step_number(index)} sends nothing along edge {output_nr}")
        edge, what = (index, output_nr), f"edge {output_nr} of {step_number(index)}"
        text = _mute_text(what, edge in changing(self._cursor.driver).muted_edges, muted)
        return self._make(Edit(self._record(index, text), edge=edge, muted=muted))

    def mute_hook(self, index: int, number: int = 0, *, muted: bool = True) -> Edited:
        """Do not call a hook of node ``index``; or, not ``muted``, call it again.

        ``number`` counts those that are shown.
        """
        self._require_ahead(index)
        node = self._cursor.driver.order[index]
        ids = hook_ids(node)
        if not 0 <= number < len(ids):
            raise EditError(f"node {step_number(index)} has no hook {number}")
        if ids[number] < 0:
            raise EditError("the hook of retain_grad() cannot be muted")
        assert node.hooks is not None
        hook, what = (index, ids[number]), f"{node.hooks.names()[number]} of {step_number(index)}"
        text = _mute_text(what, hook in changing(self._cursor.driver).muted_hooks, muted)
        return self._make(Edit(self._record(index, text), hook=hook, muted=muted))

    # making and undoing

    def _require_live(self, index: int) -> None:
        cursor = self._cursor
        if cursor.driver.state.read_only:
            raise EditError(cursor.driver.state.read_only)
        if not 0 <= index < cursor.length:
            raise EditError(
                f"there is no node {step_number(index)}: {all_step_numbers(cursor.length)}"
            )

    def _require_ahead(self, index: int) -> None:
        self._require_live(index)
        if index < self._cursor.position:
            node = step_number(index)
            raise EditError(f"node {node} has run: go back to it first (jump {node})")

    def _require_again(self, position: int) -> None:
        """See that what has run from there on can run again."""
        cursor = self._cursor
        why = changing(cursor.driver).why_not_replayable
        if position < len(cursor.history) and (reason := why(position)):
            raise EditError(reason)

    def _record(self, index: int, text: str) -> EditRecord:
        self._count += 1
        return EditRecord(self._count, self._cursor.position, index, text)

    def _make(self, edit: Edit, sums: tuple[int, ...] = ()) -> Edited:
        """Make ``edit``, which changes sums at the nodes ``sums``, and forget what follows."""
        cursor = self._cursor
        cursor.leave_node()
        self._require_again(cursor.position)
        self._keep_baseline()
        dropped, again = self._drop()
        cursor.edits.add(edit)
        cursor.error = None
        self._edited(sums)
        return Edited(edit.record, dropped, again, cursor.driver.state.restore_note)

    def _keep_baseline(self) -> None:
        """Note what the unedited run does from here on, as far as it is known."""
        cursor, edits = self._cursor, self._cursor.edits
        position, pending = cursor.position, cursor.driver.state.pending
        if edits.baseline is None:
            edits.baseline = Baseline(position, pending)
            end = len(cursor.history)
        else:
            end = edits.baseline.position
            if position < end:
                edits.baseline.begin(position, pending)
        for index in range(position, min(end, len(cursor.history))):
            effects = cursor.driver.state.effects.get(index)
            if effects is not None or cursor.driver.order[index].kind == LEAF:
                edits.baseline.remember(cursor.history[index], effects)

    def _drop(self) -> tuple[int, tuple[int, ...]]:
        """Forget what was recorded from here on."""
        cursor = self._cursor
        start, end = cursor.position, len(cursor.history)
        effects = cursor.driver.state.effects
        again = tuple(i for i in range(start, end) if i in effects and effects[i].user_code)
        cursor.history.truncate(start)
        return end - start, again

    def undo(self) -> Edited:
        """Undo the last edit, and go to where it was made."""
        cursor = self._cursor
        last = cursor.edits.last
        if cursor.is_over:
            raise EditError(cursor.driver.state.read_only)
        if last is None:
            raise EditError("there is nothing to undo")
        position = last.record.position
        dropped = 0
        again: tuple[int, ...] = ()
        self._require_again(position)
        if position <= len(cursor.history):
            cursor.travel(position)
            dropped, again = self._drop()
        cursor.edits.pop()
        cursor.error = None
        self._edited(())
        record = replace(last.record, text=f"undone: {last.record.text}")
        return Edited(record, dropped, again, cursor.driver.state.restore_note)

    def difference(self) -> Sequence[LeafDifference]:
        """Compare the ``.grad`` of each leaf behind the first edit with the unedited run.

        What of that run was never seen runs now, on sums of its own; its hooks are called once
        more for it, see :attr:`called_for_difference`.
        """
        baseline = self._cursor.edits.baseline
        if baseline is None:
            return ()
        cursor = self._cursor
        unedited = baseline.leaves(cursor.driver, cursor.at)
        for index in cursor.edits.leaves:
            if index < baseline.position and cursor.edits.of_leaf(index):
                unedited[index] = cursor.history[index].after
        edits = []
        for index, value in unedited.items():
            leaf = self._leaf(index)
            assert leaf is not None
            done = index < self._cursor.position and leaf.now is not None
            now = leaf.now.array if done and leaf.now is not None else None
            edits.append(
                leaf_difference(index, leaf.name, now, None if value is None else array_of(value))
            )
        return sorted(edits)

    @property
    def called_for_difference(self) -> tuple[int, ...]:
        """The nodes the hooks or Functions of which :meth:`difference` had to call."""
        baseline = self._cursor.edits.baseline
        return () if baseline is None else baseline.called


def hook_ids(node: Node) -> tuple[int, ...]:
    """Return the id of each hook, in the order of ``node.hooks.names()``; -1 for one that cannot be
    muted."""
    hooks = node.hooks
    if hooks is None:
        return ()
    retained = (-1 for _ in hooks.retain)
    return (*hooks.tensor, *retained, *hooks.pre, *hooks.post, *hooks.accumulated)
