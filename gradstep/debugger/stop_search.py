"""The one loop behind every command that moves: on to a place, or to the first stop on the way.

To arrive before a node, forwards or backwards, asks the stops there; to look inside a node asks
none.  A pass that was started inside a node is recorded whole before anybody can stop in it.  The
stops in it are found right after that node has run: the inner pass comes into view, and stands
where the stop is, while the pass around it stands behind the node.
"""

from __future__ import annotations

from gradstep.debugger.breakpoints import Breakpoints, Reached
from gradstep.debugger.pass_stack import PassStack
from gradstep.debugger.passes.recorded_pass import RecordedPass
from gradstep.graph.addresses import node_text


class StopSearch:
    """Moves the passes of ``stack`` until a place or one of ``breakpoints`` is reached."""

    def __init__(self, stack: PassStack, breakpoints: Breakpoints) -> None:
        self._stack = stack
        self._breakpoints = breakpoints
        self._unasked: dict[RecordedPass, int] = {}  # where a stop inside came before

    @property
    def at_end(self) -> bool:
        """True if nothing is left to run in the pass in view."""
        return self._stack.view.cursor.position == self._end(True)

    def here(self) -> Reached | None:
        """Ask whether the present position is a stop."""
        view = self._stack.view
        return self._breakpoints.at(view.inspector, view.cursor.position)

    def ahead(self) -> Reached | None:
        """Go on to the next stop, or to the end."""
        return self.go(self._end(True))

    def back(self) -> Reached | None:
        """Go back to the stop before, or to the start."""
        return self.go(0)

    def go(self, target: int) -> Reached | None:
        """Go to ``target``, on or back, or to the first stop on the way."""
        cursor = self._stack.view.cursor
        leaves_node = cursor.phase > 0
        cursor.leave_node()
        if target < cursor.position or (target == cursor.position and leaves_node):
            arrives = leaves_node
        else:
            arrives = self._was_passed_over()
        return (self.here() if arrives else None) or self._find(target)

    def step(self, count: int) -> Reached | None:
        """Go on by so many phases, or to the first stop."""
        cursor = self._stack.view.cursor
        if not cursor.phase and self._was_passed_over() and (reached := self.here()):
            return reached
        while count and not cursor.interrupted and cursor.step():
            count -= 1
            if not cursor.phase and (reached := self._arrived()):
                return reached
        return None

    def step_back(self, count: int) -> Reached | None:
        """Go back by so many phases, or to the first stop."""
        cursor = self._stack.view.cursor
        while count and not cursor.interrupted:
            if not cursor.phase and (reached := self._find_inside(cursor.position - 1, False)):
                return reached
            if not cursor.step_back():
                return None
            count -= 1
            if not cursor.phase and (reached := self.here()):
                return reached
        return None

    def _was_passed_over(self) -> bool:
        """Return whether nobody asked for a stop here, because there was one inside the last
        node."""
        view = self._stack.view
        return self._unasked.pop(view, None) == view.cursor.position

    def _find(self, end: int) -> Reached | None:
        """Move in the pass in view, up to ``end``, until a stop is reached, be it in a pass
        inside."""
        cursor, breakpoints = self._stack.view.cursor, self._breakpoints
        ahead = end > cursor.position
        while cursor.position != end:
            if not ahead and (reached := self._find_inside(cursor.position - 1, ahead)):
                return reached
            stop = breakpoints.next_position(cursor.position, end)
            cursor.travel(stop, stop_after_nested=bool(breakpoints.points))
            if cursor.error is not None or cursor.interrupted:
                return None
            if reached := self._arrived() if ahead else self.here():
                return reached
        return None

    def _arrived(self) -> Reached | None:
        """Ask for a stop inside the node that has just run, and behind it."""
        view = self._stack.view
        if reached := self._find_inside(view.cursor.position - 1, True):
            self._unasked[view] = view.cursor.position
            return reached
        return self.here()

    def _end(self, ahead: bool) -> int:
        """Find where a pass ends; one inside another, where it raised."""
        if not ahead:
            return 0
        cursor = self._stack.view.cursor
        return cursor.length if len(self._stack) == 1 else len(cursor.history)

    def _find_inside(self, index: int, ahead: bool) -> Reached | None:
        """Find the first stop in the passes that ran inside node ``index``, or the last one, and
        stand there; without one, stay."""
        outer = self._stack.view
        count = len(outer.nested(index)) if self._breakpoints.points else 0
        for number in range(count) if ahead else reversed(range(count)):
            self._stack.enter(index, number)
            inner = self._stack.view
            inner.cursor.travel(self._end(not ahead))
            if reached := self.here() or self._find(self._end(ahead)):
                self._breakpoints.tell(
                    f"in {inner.title} inside {node_text(outer.graph, index)}, "
                    "which has run; leave goes out"
                )
                return reached
            outer.cursor.interrupted, inner.cursor.interrupted = inner.cursor.interrupted, False
            self._stack.leave()
            if outer.cursor.interrupted:
                return None
        return None
