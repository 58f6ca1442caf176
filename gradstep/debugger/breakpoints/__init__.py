"""The stops of a session: breakpoints, catches, watches and log points, and their counts.

One :class:`Breakpoints` serves all passes of a program, one after the other; places that do not
exist in the present pass wait for one in which they do.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from gradstep.capturing.names import Names
from gradstep.debugger.breakpoints.logtext import LogText
from gradstep.debugger.breakpoints.predicate import Expression, parse_predicate
from gradstep.debugger.breakpoints.trigger import Trigger, triggered
from gradstep.debugger.errors import Unanswerable
from gradstep.debugger.passes.inspector import Inspector
from gradstep.debugger.snapshot.breakpoint import Breakpoint
from gradstep.graph.addresses import before, locate
from gradstep.graph.errors import UnknownAddress
from gradstep.graph.model import Graph


def _nowhere() -> Sequence[int]:
    return ()


class Reached(NamedTuple):
    """A stop: the point that was hit, and what hit it."""

    point: Breakpoint
    trigger: Trigger

    @property
    def reason(self) -> str:
        """One line: ``breakpoint 1: mul``, ``catch 2: nan, out of #4 sqrt:1 is nan``."""
        match self.point.kind:
            case "catch":
                return f"{self.point.title}, {self.trigger.cause}"
            case "watch":
                return f"{self.point.title}, {self.trigger.explanation}"
        return self.point.title


class Breakpoints:
    """All points, in the order in which they were set.

    ``displays`` are the expressions to show at every stop, ``last`` is the last stop of all passes,
    and ``passing`` counts the calls that go by without a stop.
    """

    def __init__(self) -> None:
        self._points: list[Breakpoint] = []
        self._last_number = 0
        self._conditions: dict[str, Expression] = {}
        self._complained: set[int] = set()
        self._graph: Graph | None = None
        self._length = 0
        self._user_code = _nowhere
        self._names: Names | None = None
        self._known: dict[str, tuple[int, ...]] = {}
        self._messages: list[str] = []
        self._reached: Reached | None = None
        self.last: Reached | None = None
        self.passing = 0
        self.displays: dict[int, str] = {}
        self._arrange()

    def bind(
        self,
        graph: Graph,
        length: int,
        known: dict[str, tuple[int, ...]],
        user_code: Callable[[], Sequence[int]],
        names: Names,
    ) -> None:
        """Find every place anew in the plan of a pass that comes into view; ``known`` remembers
        what places mean there, ``user_code`` gives the nodes that run user code, ``names`` those of
        the program's tensors."""
        self._graph, self._length, self._known = graph, length, known
        self._names = names
        self._user_code = user_code
        self._reached = None
        self._points = [replace(point, indices=self._found(point.text)) for point in self._points]
        self._arrange()

    def unbind(self, known: Sequence[dict[str, tuple[int, ...]]]) -> None:
        """Let go of the plan for which one of ``known`` was given, if it is still that one."""
        if any(breakpoints is self._known for breakpoints in known):
            self._graph, self._names, self._user_code = None, None, _nowhere
            self._reached = self.last = None

    def _found(self, place: str) -> tuple[int, ...]:
        if place not in self._known:
            try:
                self._known[place] = self.locate(place)
            except UnknownAddress:
                self._known[place] = ()
        return self._known[place]

    def locate(self, place: str) -> tuple[int, ...]:
        """Return the plan nodes that ``place`` means in the present pass, in execution order.

        Raises:
            UnknownAddress: none.
        """
        if not place or self._graph is None:
            return ()
        try:
            return locate(self._graph, place, self._length)
        except UnknownAddress:
            short = self._names.usual(place) if self._names is not None else ""
            if not short:
                raise
            return locate(self._graph, short, self._length)

    # what a session asks

    @property
    def points(self) -> tuple[Breakpoint, ...]:
        return tuple(self._points)

    def next_position(self, position: int, end: int) -> int:
        """Find the next position from ``position`` towards ``end`` at which :meth:`at` is to be
        asked."""
        ahead = end > position
        if self._everywhere:
            return position + (1 if ahead else -1)
        positions = self._positions
        if ahead:
            number = bisect_right(positions, position)
            return min(positions[number], end) if number < len(positions) else end
        number = bisect_left(positions, position)
        return max(positions[number - 1], end) if number else end

    def at(self, inspector: Inspector, position: int) -> Reached | None:
        """Return the stop that the arrival at ``position`` is, forwards or backwards; counts
        hits."""
        stopped: Reached | None = None
        numbers = sorted({*self._everywhere, *self._by_position.get(position, ())})
        for number in numbers:
            point = self.point(number)
            trigger = None if point is None else self._trigger(point, inspector, position)
            if point is not None and trigger is not None:
                stopped = self._hit(point, trigger, stopped)
        if stopped is not None:
            self._reached = self.last = stopped
        return stopped

    def take_reached(self) -> Reached | None:
        """Return the last stop; the next one has to be reached anew."""
        reached, self._reached = self._reached, None
        return reached

    def tell(self, message: str) -> None:
        """Add to what :meth:`take_messages` gives."""
        self._messages.append(message)

    def take_messages(self) -> list[str]:
        """Return what log points, and conditions without an answer, have said since the last
        call."""
        messages, self._messages = self._messages, []
        return messages

    def _trigger(self, point: Breakpoint, inspector: Inspector, position: int) -> Trigger | None:
        condition = self._conditions.get(point.condition)
        if condition is None and point.condition:
            condition = self._conditions[point.condition] = parse_predicate(point.condition)
        try:
            return triggered(point, condition, inspector, position)
        except Unanswerable as reason:
            if point.number not in self._complained:
                self._complained.add(point.number)
                self._messages.append(
                    f"{point.title}: cannot be answered {before(position, inspector.length)}, "
                    f"and counts as not hit ({reason})"
                )
            return None

    def _hit(self, point: Breakpoint, trigger: Trigger, earlier: Reached | None) -> Reached | None:
        point = self._put(replace(point, hits=point.hits + 1))
        if point.ignore:
            self._put(replace(point, ignore=point.ignore - 1))
            return earlier
        if point.kind == "log":
            self._messages.append(LogText(point.message).filled(trigger.subject))
            return earlier
        if earlier is not None:
            return earlier
        if point.temporary:
            self.delete(point.number)
        return Reached(point, trigger)

    # what a person asks

    def add(self, place: str = "", *, pending: bool = False, **properties: object) -> Breakpoint:
        """Set a point; ``properties`` are those of :class:`Breakpoint`.

        Raises:
            UnknownAddress: ``place`` means nothing in this plan, and is not to wait for one.
            ExpressionError: the condition, or a log point's text, means nothing.
        """
        indices = self._found(place) if pending else self.locate(place)
        point = Breakpoint(self._last_number + 1, place, indices, **properties)  # type: ignore[arg-type]
        self.check_condition(point.condition)
        self.check_text(point.message)
        self._last_number += 1
        self._points.append(point)
        self._arrange()
        return point

    @staticmethod
    def check_condition(text: str) -> None:
        """Raises ExpressionError unless ``text`` is a condition, or empty."""
        if text:
            parse_predicate(text)

    @staticmethod
    def check_text(text: str) -> None:
        """Raises ExpressionError unless ``text`` may be that of a log point."""
        LogText(text)

    def point(self, number: int) -> Breakpoint | None:
        """Return the point of that number."""
        return next((point for point in self._points if point.number == number), None)

    def change(self, number: int, **properties: object) -> Breakpoint:
        """Change properties of a point.

        Raises:
            KeyError: there is none of that number.
            ExpressionError: the new condition means nothing.
        """
        point = self.point(number)
        if point is None:
            raise KeyError(number)
        changed = replace(point, **properties)  # type: ignore[arg-type]
        self.check_condition(changed.condition)
        self._complained.discard(number)
        self._put(changed)
        self._arrange()
        return changed

    def delete(self, number: int | None = None) -> bool:
        """Delete a point, or all; whether there was one."""
        kept = [point for point in self._points if number is not None and point.number != number]
        deleted = len(kept) < len(self._points)
        self._points = kept
        self._arrange()
        return deleted

    def _senders(self, indices: Sequence[int]) -> set[int]:
        """Return the plan nodes that send to one of ``indices``."""
        graph = self._graph
        if graph is None:
            return set()
        edges = zip(graph.edge_sources, graph.edge_targets, strict=True)
        wanted = set(indices)
        return {source for source, target in edges if target in wanted and source < self._length}

    def _put(self, point: Breakpoint) -> Breakpoint:
        self._points = [point if other.number == point.number else other for other in self._points]
        return point

    def _arrange(self) -> None:
        """Note which points are to be asked where."""
        by_position: defaultdict[int, list[int]] = defaultdict(list)
        everywhere = []
        for point in self._points:
            if not point.enabled:
                continue
            if point.kind == "catch":
                everywhere.append(point.number)
            watch = point.kind == "watch"
            places = {*point.indices, *(self._user_code() if watch else ())}
            if point.sums:
                places = self._senders(point.indices)
            for index in places:
                by_position[index + watch].append(point.number)
        self._by_position = dict(by_position)
        self._positions = sorted(by_position)
        self._everywhere = everywhere
