"""The effect of edits: the ``.grad`` of every leaf, against the run without any."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from gradstep.contract.driver import CannotRunAgain, Driver, NodeEffects, Pending, collecting
from gradstep.debugger.errors import EditError
from gradstep.graph.addresses import step_number
from gradstep.records import LEAF, Step

Leaves = dict[int, Any]  # the .grad of leaves after a pass, by plan index


class LeafDifference(NamedTuple):
    """The difference of a leaf's ``.grad`` from that of the unedited run: norm and largest element
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
        self.called: tuple[int, ...] = ()

    def begin(self, position: int, pending: Pending) -> None:
        """Begin earlier: an edit was made before the first one."""
        self.position, self._pending = position, _copied(pending)

    def remember(self, step: Step, effects: NodeEffects | None) -> None:
        """Take note of what an unedited step did to the ``.grad`` of leaves."""
        if effects is not None:
            self._leaves.update(effects.gradients)
        if step.node.kind == LEAF:
            self._leaves[step.index] = step.after

    def leaves(self, driver: Driver, at: Callable[[int], AbstractContextManager[None]]) -> Leaves:
        """Return the ``.grad`` of each leaf from ``position`` on; within ``at(position)``, the
        program is as it was there.

        Raises:
            EditError: the run without edits raises an error, or cannot be had.
        """
        wanted = [
            index
            for index in range(self.position, len(driver.order))
            if driver.order[index].kind == LEAF
        ]
        if any(index not in self._leaves for index in wanted):
            again = driver.rerunning
            why = driver.state.read_only
            if again is None or (why := again.why_not_restartable(self.position)):
                raise EditError(f"the run without changes cannot be compared: {why}")
            with at(self.position):
                self._run(again.restarted(self._pending))
        return {index: self._leaves[index] for index in wanted}

    def _run(self, driver: Driver) -> None:
        called: list[int] = []
        try:
            for index in range(self.position, len(driver.order)):
                steps: list[Step] = []
                driver.record(index, index + 1, collecting(steps))
                effects = driver.state.effects.get(index)
                self.remember(steps[0], effects)
                if effects is not None and effects.user_code:
                    called.append(index)
        except CannotRunAgain as error:
            raise EditError(f"the run without changes cannot be compared: {error}") from None
        except Exception as error:  # the user's
            raise EditError(
                f"the run without changes cannot be compared: {step_number(index)} raised "
                f"{type(error).__name__}: {error}"
            ) from None
        finally:
            driver.undoing.undo_all()
        self.called = tuple(called)


def _copied(pending: Pending) -> Pending:
    return {place: g for place, g in pending.items() if g is not None}


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
