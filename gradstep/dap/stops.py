"""The breakpoints of an editor, which sets all of one kind at once, as those of a session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from gradstep.dap.protocol import Body, Refused, list_in, number_in, text_in
from gradstep.dap.views import same_file
from gradstep.debugger.breakpoints import Breakpoints, Reached
from gradstep.debugger.errors import ExpressionError
from gradstep.debugger.snapshot.breakpoint import Breakpoint
from gradstep.graph.errors import UnknownAddress

FILTERS: Final = (("nan", "A gradient becomes NaN"), ("inf", "A gradient becomes infinite"))
_HITS: Final = re.compile(r"\s*(==?|>=?|)\s*(\d+)\s*")
_REASONS: Final = {"breakpoint": "breakpoint", "catch": "exception", "watch": "data breakpoint"}


class Stops:
    """The breakpoints of an editor; ``breakpoints`` are those of all sessions.

    Lines are known by the files of a graph, so they are placed when a pass begins: :meth:`place`.
    """

    def __init__(self) -> None:
        self.breakpoints = Breakpoints()
        self.first_line = 1  # as the editor counts
        self._files: list[str] = []
        self._lines: dict[str, list[int]] = {}  # breakpoints by files, as the editor names these
        self._numbers: dict[str, list[int]] = {}
        self._verified: dict[int, bool] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing can stop a pass."""
        return not self.breakpoints.points

    def place(self, files: list[str]) -> Iterator[Body]:
        """Learn the files of the pass that begins; yields the breakpoints that are other than they
        were told."""
        self._files = files
        for path, numbers in self._lines.items():
            file = same_file(path, files)
            for number in numbers:
                self._move(number, file)
        for point in self.breakpoints.points:
            if self._verified.get(point.number) != _is_placed(point):
                yield self._told(point)

    def _move(self, number: int, file: str) -> None:
        """Have a breakpoint lie on the same line of ``file``, which is another name of its own."""
        point = self.breakpoints.point(number)
        if point is None:
            return
        place = f"{file}:{point.text.rpartition(':')[2]}"
        if place != point.text:
            indices: tuple[int, ...] = ()
            with suppress(UnknownAddress):
                indices = self.breakpoints.locate(place)
            self.breakpoints.change(number, text=place, indices=indices)

    def set_lines(self, path: str, wanted: list[Body]) -> list[Body]:
        """Set all breakpoints and logpoints of one file."""
        file, kind = same_file(path, self._files), f"file {path}"
        answers = self._set(kind, [(given, self._on_line(file, given)) for given in wanted])
        self._lines[path] = self._numbers[kind]
        return answers

    def _on_line(self, file: str, wanted: Body) -> Body:
        line = number_in(wanted, "line") + 1 - self.first_line
        message = text_in(wanted, "logMessage", "")
        kind = "log" if message else "breakpoint"
        return {"place": f"{file}:{line}", "kind": kind, "message": message}

    def set_functions(self, wanted: list[Body]) -> list[Body]:
        """Set all breakpoints on ops, modules and other places that have a name."""
        return self._set(
            "functions", [(given, {"place": text_in(given, "name").strip()}) for given in wanted]
        )

    def set_data(self, wanted: list[Body]) -> list[Body]:
        """Set all watches on the ``.grad`` of leaves, and on sums."""
        points = []
        for given in wanted:
            place = text_in(given, "dataId")
            points.append((given, {"place": place, "kind": "watch", "sums": place.startswith("#")}))
        return self._set("data", points)

    def set_exceptions(self, arguments: Body) -> list[Body]:
        """Set the conditions on any gradient: NaN, infinity, or one of these and more."""
        options = [{"filterId": name} for name in list_in(arguments, "filters", str)]
        options += list_in(arguments, "filterOptions", dict)
        points: list[tuple[Body, Body]] = []
        for option in options:
            name = text_in(option, "filterId")
            if name not in dict(FILTERS):
                raise Refused(f"there is no filter '{name}', only {' and '.join(dict(FILTERS))}")
            more = text_in(option, "condition", "")
            condition = f"{name} and ({more})" if more else name
            points.append(({}, {"kind": "catch", "born": True, "condition": condition}))
        return self._set("exceptions", points)

    def _set(self, kind: str, wanted: list[tuple[Body, Body]]) -> list[Body]:
        """Replace all breakpoints of one kind; ``wanted`` pairs what the editor gave with the
        properties of a point."""
        for number in self._numbers.pop(kind, ()):
            self.breakpoints.delete(number)
        numbers = self._numbers[kind] = []
        answers: list[Body] = []
        for given, properties in wanted:
            try:
                point = self._add(given, properties)
            except (ExpressionError, UnknownAddress, Refused) as error:
                answers.append({"verified": False, "message": str(error)})
            else:
                numbers.append(point.number)
                answers.append(self._told(point))
            if "line" in given:
                answers[-1]["line"] = given["line"]
        return answers

    def _add(self, given: Body, properties: Body) -> Breakpoint:
        condition = text_in(given, "condition", "") or properties.pop("condition", "")
        hits = text_in(given, "hitCondition", "")
        if hits:
            properties |= _hit_properties(hits)
        place = properties.pop("place", "")
        if not place and properties.get("kind") != "catch":
            raise Refused("name a place: an op, an address, a module, a leaf, or # and a number")
        return self.breakpoints.add(place, pending=True, condition=condition, **properties)

    def _told(self, point: Breakpoint) -> Body:
        """Return what the editor is told of ``point``."""
        placed = self._verified[point.number] = _is_placed(point)
        body: Body = {"id": point.number, "verified": placed}
        if not placed:
            body["message"] = f"no node of a backward pass is at {point.text} yet"
        return body

    @staticmethod
    def reason(reached: Reached) -> str:
        """Return the protocol's word for a stop."""
        return _REASONS[reached.point.kind]


def _is_placed(point: Breakpoint) -> bool:
    return point.kind == "catch" or bool(point.indices)


def _hit_properties(text: str) -> Body:
    """Read a hit condition: ``3`` and ``>= 3`` stop from the third hit on, ``> 3`` from the fourth,
    ``== 3`` at the third one only.

    Raises:
        Refused: it is something else.
    """
    match = _HITS.fullmatch(text)
    if match is None or not int(match[2]):
        raise Refused(f"'{text}' is not a number of hits, such as 3, >= 3, > 3 or == 3")
    first = int(match[2]) + (match[1] == ">")
    return {"ignore": first - 1, "temporary": match[1] in ("=", "==")}
