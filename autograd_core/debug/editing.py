"""What a user may change, as methods: ``session.edit.scale(3, 0.5)``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from autograd_core.autograd.node import LEAF
from autograd_core.dag.backward import input_shape
from autograd_core.debug.edits import (
    Baseline,
    Change,
    Edit,
    EditError,
    LeafDifference,
    computing,
    leaf_difference,
    place_of,
    setting,
)
from autograd_core.debug.hooks import hook_ids
from autograd_core.debug.snapshot import EditRecord, LeafGradient
from autograd_core.debug.walk import Walk
from autograd_core.debug.world import runs_user_code


class Edited(NamedTuple):
    """What became of a change: how many recorded steps were dropped, and which nodes with code of
    the user's among them will run it again."""

    record: EditRecord
    dropped: int
    again: tuple[int, ...]

    @property
    def text(self) -> str:
        """One or two sentences for the console."""
        said = [self.record.text]
        if self.dropped:
            steps = "1 recorded step" if self.dropped == 1 else f"{self.dropped} recorded steps"
            said.append(f"{steps} dropped, to run anew")
        if self.again:
            nodes = ", ".join(f"#{index}" for index in self.again[:8])
            more = f" and {len(self.again) - 8} more" if len(self.again) > 8 else ""
            said.append(
                f"the hooks or Functions of {nodes}{more} are called again: gradients, .grad, "
                "random state and the data of their leaf were restored, whatever else they "
                "changed was not"
            )
        return "; ".join(said)


class Editor:
    """Changes a pass at the position where it stands; see the methods.

    A node is named by its plan index; gradients are changed where they wait, so at the current
    node or one behind it.  Everything raises :class:`EditError` where it cannot be done.
    """

    def __init__(
        self,
        walk: Walk,
        leaf: Callable[[int], LeafGradient | None],
        edited: Callable[[tuple[int, ...]], None],
    ) -> None:
        self._walk = walk
        self._leaf = leaf
        self._edited = edited  # told which sums were changed
        self._count = 0

    @property
    def records(self) -> tuple[EditRecord, ...]:
        """The edits that hold."""
        return self._walk.edits.records

    # gradients

    def set(self, index: int, value: Any, input_nr: int = 0) -> Edited:
        """Replace what waits at an input; ``value`` broadcasts to its shape."""
        self._require_ahead(index)
        node = self._walk.driver.order[index]
        shape, dtype = input_shape(node, input_nr), node.output_dtype.dtype
        change = setting(value, shape, dtype, self._walk.driver.call.graph)
        return self._change(index, input_nr, change, f"set {self._name(index, input_nr)}")

    def scale(self, index: int, factor: float, input_nr: int = 0) -> Edited:
        """Multiply what waits at an input."""
        text = f"scale {self._name(index, input_nr)} by {factor:g}"
        return self._compute(index, input_nr, lambda g: g * factor, text)

    def clip(self, index: int, limit: float, input_nr: int = 0) -> Edited:
        """Limit every element of what waits at an input to -limit … limit."""
        if not limit >= 0:
            raise EditError(f"a limit is not negative, and {limit:g} is no limit")
        text = f"clip {self._name(index, input_nr)} to {limit:g}"
        return self._compute(index, input_nr, lambda g: np.clip(g, -limit, limit), text)

    def zero(self, index: int, input_nr: int = 0) -> Edited:
        """Make what waits at an input zero."""
        text = f"zero {self._name(index, input_nr)}"
        return self._compute(index, input_nr, np.zeros_like, text)

    def _name(self, index: int, input_nr: int) -> str:
        return f"#{index}" if input_nr == 0 else f"#{index} input {input_nr}"

    def _compute(
        self, index: int, input_nr: int, function: Callable[[Any], Any], text: str
    ) -> Edited:
        self._require_ahead(index)
        self._walk.leave_node()
        if self._walk.driver.pending[place_of(self._walk.driver, index, input_nr)] is None:
            raise EditError(f"nothing has arrived at {self._name(index, input_nr)} yet")
        return self._change(index, input_nr, computing(function), text)

    def _change(self, index: int, input_nr: int, change: Change, text: str) -> Edited:
        place = place_of(self._walk.driver, index, input_nr)
        edited = self._make(Edit(self._record(index, text), place=place, change=change))
        self._edited((index,))
        return edited

    # silence

    def mute_edge(self, index: int, output_nr: int) -> Edited:
        """Let node ``index`` send nothing along an edge."""
        self._require_ahead(index)
        edges = self._walk.driver.order[index].edges
        if not 0 <= output_nr < len(edges) or edges[output_nr] is None:
            raise EditError(f"node #{index} sends nothing along edge {output_nr}")
        text = f"mute edge {output_nr} of #{index}"
        return self._make(Edit(self._record(index, text), edge=(index, output_nr)))

    def mute_hook(self, index: int, number: int = 0) -> Edited:
        """Do not call a hook of node ``index``; ``number`` counts those that are shown."""
        self._require_ahead(index)
        node = self._walk.driver.order[index]
        ids = hook_ids(node)
        if not 0 <= number < len(ids):
            raise EditError(f"node #{index} has no hook {number}")
        if ids[number] < 0:
            raise EditError("what keeps .grad of an intermediate tensor cannot be muted")
        assert node.hooks is not None
        text = f"mute {node.hooks.names()[number]} of #{index}"
        return self._make(Edit(self._record(index, text), hook=(index, ids[number])))

    # making and taking back

    def _require_ahead(self, index: int) -> None:
        walk = self._walk
        if not walk.driver.live:
            raise EditError("a pass inside another one can be looked at, not changed")
        if not 0 <= index < walk.length:
            raise EditError(f"there is no node #{index}: the plan has #0 to #{walk.length - 1}")
        if index < walk.position:
            raise EditError(f"node #{index} has run: go back to it first (jump {index})")

    def _record(self, index: int, text: str) -> EditRecord:
        self._count += 1
        return EditRecord(self._count, self._walk.position, index, text)

    def _make(self, edit: Edit) -> Edited:
        walk = self._walk
        walk.leave_node()
        self._keep_baseline()
        dropped, again = self._drop()
        walk.edits.add(edit)
        walk.error = None
        return Edited(edit.record, dropped, again)

    def _keep_baseline(self) -> None:
        """Note what the unedited run does from here on, as far as it is known."""
        walk, edits = self._walk, self._walk.edits
        position, pending = walk.position, walk.driver.pending
        if edits.baseline is None:
            edits.baseline = Baseline(position, pending)
            end = len(walk.history)
        else:
            end = edits.baseline.position
            if position < end:
                edits.baseline.begin(position, pending)
        for index in range(position, min(end, len(walk.history))):
            if walk.driver.order[index].kind == LEAF:
                edits.baseline.remember(walk.history[index])

    def _drop(self) -> tuple[int, tuple[int, ...]]:
        """Forget what was recorded from here on."""
        walk = self._walk
        start, end = walk.position, len(walk.history)
        again = [i for i in walk.driver.around if start <= i < end]
        order = walk.driver.order
        walk.history.truncate(start)
        return end - start, tuple(sorted(i for i in again if runs_user_code(order[i])))

    def undo(self) -> Edited:
        """Take the last edit back, and go to where it was made."""
        walk = self._walk
        last = walk.edits.last
        if last is None:
            raise EditError("there is nothing to undo")
        position = last.record.position
        dropped = 0
        again: tuple[int, ...] = ()
        if position <= len(walk.history):
            walk.travel(position)
            dropped, again = self._drop()
        walk.edits.pop()
        walk.error = None
        self._edited(())
        record = replace(last.record, text=f"undone: {last.record.text}")
        return Edited(record, dropped, again)

    def difference(self) -> Sequence[LeafDifference]:
        """How the ``.grad`` of each leaf behind the first edit differs from the unedited run.

        What of that run was never seen runs now, on sums of its own; its hooks are called once
        more for it, see :attr:`called_for_difference`.
        """
        baseline = self._walk.edits.baseline
        if baseline is None:
            return ()
        unedited = baseline.leaves(self._walk.driver, self._before)
        found = []
        for index, value in unedited.items():
            leaf = self._leaf(index)
            assert leaf is not None
            done = index < self._walk.position and leaf.now is not None
            now = leaf.now.array if done and leaf.now is not None else None
            found.append(leaf_difference(index, leaf.name, now, value))
        return sorted(found)

    @property
    def called_for_difference(self) -> tuple[str, ...]:
        """The hooks that :meth:`difference` had to call."""
        baseline = self._walk.edits.baseline
        return () if baseline is None else baseline.called

    def _before(self, index: int) -> Any:
        leaf = self._leaf(index)
        return None if leaf is None or leaf.before is None else leaf.before.array
