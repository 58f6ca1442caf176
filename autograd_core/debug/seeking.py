"""How a session goes on to the next stop, or back to the last one.

A pass that was started inside a node is recorded whole before anybody can stop in it.  The stops
in it are found right after that node has run: the session then enters the inner pass, and stands
in it where the stop is, while the pass around it stands behind the node.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from autograd_core.dag.addresses import step_number
from autograd_core.debug.breakpoints import Reached
from autograd_core.debug.movement import Movement
from autograd_core.debug.passes.recorded_pass import RecordedPass


class Seeking(Movement):
    """Moves until one of ``breakpoints`` is reached; see :class:`Movement`."""

    _unasked: tuple[RecordedPass, int] | None = None  # where a stop inside came before

    def continue_(self) -> None:
        """Go on to the next stop, or to the end; at the end of a pass inside another one, go on in
        that one."""
        if self.position == self._end(True):
            self.leave()
        self._seek(True)

    def reverse_continue(self) -> None:
        """Go back to the stop before, or to the start; at the start of a pass inside another one,
        go back in that one."""
        if self.position == 0 and len(self._passes) > 1:
            inside = self._pass.inside
            self.leave()
            self._go(inside)  # behind that node, the way back leads into it again
            if self._stands_at(self.breakpoints.at(self, self.position)):
                return
        self._seek(False)

    def _seek(self, ahead: bool) -> None:
        reached = None
        with self._moving():
            self._cursor.leave_node()
            if ahead and self._was_passed_over():
                reached = self.breakpoints.at(self, self.position)
            reached = reached or self._find(ahead)
        self._stands_at(reached)

    def _was_passed_over(self) -> bool:
        """Whether nobody asked for a stop here, because there was one inside the last node."""
        if self._unasked is None or self._unasked[0] is not self._pass:
            return False
        (_, position), self._unasked = self._unasked, None
        return position == self.position

    def _stands_at(self, reached: Reached | None) -> bool:
        if reached is not None:
            self._say(reached.reason)
        return reached is not None

    def _find(self, ahead: bool) -> Reached | None:
        """Move on in the pass in view until a stop is reached, be it in a pass inside."""
        cursor, end = self._cursor, self._end(ahead)
        while cursor.position != end:
            if not ahead and (reached := self._find_inside(cursor.position - 1, ahead)):
                return reached
            cursor.travel(self._next_stop(end), halting=bool(self.breakpoints.points))
            if cursor.error is not None or cursor.interrupted:
                return None
            if ahead and (reached := self._find_inside(cursor.position - 1, ahead)):
                self._unasked = (self._passes[-2], cursor.position)
                return reached
            if reached := self.breakpoints.at(self, cursor.position):
                return reached
        return None

    def _end(self, ahead: bool) -> int:
        """Where a pass ends; one inside another, where it raised."""
        if not ahead:
            return 0
        return self.length if len(self._passes) == 1 else len(self._cursor.history)

    def _find_inside(self, index: int, ahead: bool) -> Reached | None:
        """The first stop in the passes that ran inside node ``index``, or the last one, and stand
        there; without one, stay where we are."""
        count = self.nested(index) if self.breakpoints.points else 0
        outer = self._cursor
        for number in range(count) if ahead else reversed(range(count)):
            self.enter(index, number)
            inner = self._cursor
            inner.travel(self._end(not ahead))
            if reached := self.breakpoints.at(self, inner.position) or self._find(ahead):
                self._tell_where(index)
                return reached
            outer.interrupted, inner.interrupted = inner.interrupted, False
            self.leave()
            if outer.interrupted:
                return None
        return None

    def _tell_where(self, index: int) -> None:
        around = self._passes[-2]
        self.breakpoints.tell(
            f"in {self._pass.title} inside {step_number(index)} {around.graph.address(index)}, "
            "which has run; leave goes out"
        )

    def _next_stop(self, end: int) -> int:
        """The next position towards ``end`` at which a stop is possible."""
        ahead = end > self.position
        if self.breakpoints.conditional:
            return self.position + (1 if ahead else -1)
        positions = self.breakpoints.positions
        if ahead:
            place = bisect_right(positions, self.position)
            return min(positions[place], end) if place < len(positions) else end
        place = bisect_left(positions, self.position)
        return positions[place - 1] if place else end
