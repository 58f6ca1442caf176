"""What a profile has recorded: events, lists of them, their averages, and tables of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import InitVar, dataclass
from typing import Any, NamedTuple

Shapes = list[list[int]]


class Interval(NamedTuple):
    """Microseconds since the profile began."""

    start: float
    end: float

    def elapsed_us(self) -> float:
        return self.end - self.start


class _Times:
    """Averages and texts that one event and a group of them have alike."""

    count: int
    cpu_time_total: float
    self_cpu_time_total: float

    @property
    def cpu_time(self) -> float:
        """Microseconds per call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        return format_time(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        return format_time(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        return format_time(self.self_cpu_time_total)


@dataclass(eq=False, repr=False)
class FunctionEvent(_Times):
    """One op, one node of a backward pass, or one block of the program.

    Attributes:
        name: ``aten::mul`` for an op, ``MulBackward0`` for a node.
        sequence_nr: of the node that the op made, or that ran; -1 where there is none.
        scope: 0 for an op, 1 for a node, 7 for a block of the program.
        cpu_memory_usage: bytes of the results, views not counted; of a block, the sum over the
            events in it.  ``self_cpu_memory_usage`` leaves out what events inside made, and is
            negative where these made more than was left in the end.
    """

    count = 1
    id: int
    name: str
    thread: int
    start: InitVar[float]
    scope: int = 0
    cpu_parent: FunctionEvent | None = None
    cpu_memory_usage: int = 0
    sequence_nr: int = -1

    def __post_init__(self, start: float) -> None:
        self.time_range = Interval(start, start)
        self.cpu_children: list[FunctionEvent] = []
        self.input_shapes: Shapes = []
        if self.cpu_parent is not None:
            self.cpu_parent.cpu_children.append(self)

    @property
    def key(self) -> str:
        """The name under which averages are taken."""
        return self.name

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        return self.time_range.elapsed_us()

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)

    @property
    def self_cpu_memory_usage(self) -> int:
        return self.cpu_memory_usage - sum(child.cpu_memory_usage for child in self.cpu_children)

    def __repr__(self) -> str:
        return (
            f"<FunctionEvent id={self.id} name={self.name} cpu_time={self.cpu_time_str} "
            f"start_us={self.time_range.start:.3f} end_us={self.time_range.end:.3f} "
            f"cpu_children={[child.id for child in self.cpu_children]} thread={self.thread} "
            f"input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
            f"seq_nr={self.sequence_nr}>"
        )


class FunctionEventAvg(_Times):
    """Events of one name, added up."""

    def __init__(self, key: str, input_shapes: Shapes | str = "") -> None:
        self.key = self.name = key
        self.input_shapes = input_shapes
        self.count = 0
        self.cpu_time_total = 0.0
        self.self_cpu_time_total = 0.0
        self.cpu_memory_usage = 0
        self.self_cpu_memory_usage = 0

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Count ``other`` in."""
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        self.cpu_memory_usage += other.cpu_memory_usage
        self.self_cpu_memory_usage += other.self_cpu_memory_usage
        return self

    def __iadd__(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        return self.add(other)

    def __repr__(self) -> str:
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} "
            f"cpu_time={self.cpu_time_str} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage}>"
        )


class EventList(list[Any]):
    """Events, or averages of events."""

    def __init__(self, events: Iterable[Any] = (), *, profile_memory: bool = False) -> None:
        super().__init__(events)
        self._profile_memory = profile_memory

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds spent in all of these."""
        return float(sum(event.self_cpu_time_total for event in self))

    def key_averages(self, group_by_input_shape: bool = False) -> EventList:
        """Events added up by name, and by the shapes of their inputs if asked for."""
        groups: dict[tuple[str, str], FunctionEventAvg] = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shape else ""
            group = groups.setdefault((event.key, str(shapes)), FunctionEventAvg(event.key, shapes))
            group.add(event)
        return EventList(groups.values(), profile_memory=self._profile_memory)

    def total_average(self) -> FunctionEventAvg:
        """Return all events added up; as in PyTorch, time within time counts twice but in
        ``self_``."""
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
    ) -> str:
        """Write a table of the events, greatest first.

        Args:
            sort_by: an attribute of the events: ``cpu_time``, ``cpu_time_total``,
                ``self_cpu_time_total``, ``cpu_memory_usage``, ``self_cpu_memory_usage``,
                ``count``; by default they stand as they happened.
            row_limit: how many rows; -1 for all.
            top_level_events_only: leave out what happened within another event.

        Raises:
            AttributeError: the events have no such attribute.
        """
        rows = [
            event
            for event in self
            if not (top_level_events_only and getattr(event, "cpu_parent", None) is not None)
        ]
        if sort_by is not None:
            name = sort_by
            rows.sort(key=lambda event: getattr(event, name), reverse=True)
        limited = rows if row_limit < 0 else rows[:row_limit]
        return table_text(
            limited,
            total=self.self_cpu_time_total,
            memory=self._profile_memory,
            name_width=max_name_column_width,
            shapes_width=max_shapes_column_width,
            header=header,
        )

    def export_chrome_trace(self, path: str) -> None:
        """Write the events for ``chrome://tracing`` or Perfetto to ``path``."""
        events = [
            {
                "name": event.name,
                "ph": "X",
                "ts": event.time_range.start,
                "dur": event.time_range.elapsed_us(),
                "tid": event.thread,
                "pid": "CPU functions",
                "args": {"Input Dims": event.input_shapes, "Sequence number": event.sequence_nr},
            }
            for event in self
        ]
        import json  # slow to load, and no picture or debugger needs it

        with open(path, "w", encoding="utf-8") as file:
            json.dump({"displayTimeUnit": "ms", "traceEvents": events}, file)

    def __str__(self) -> str:
        return self.table()


_GAP = "  "
_NARROW = 12


def format_time(microseconds: float) -> str:
    """Write a time in the largest unit that it has one of.

    >>> format_time(12.5), format_time(2500.0), format_time(3e6)
    ('12.500us', '2.500ms', '3.000s')
    """
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    if microseconds >= 1e3:
        return f"{microseconds / 1e3:.3f}ms"
    return f"{microseconds:.3f}us"


def format_memory(count: int) -> str:
    """
    >>> format_memory(96), format_memory(-2048), format_memory(3 * 2**20)
    ('96 B', '-2.00 KB', '3.00 MB')
    """
    for size, unit in ((2**30, "GB"), (2**20, "MB"), (2**10, "KB")):
        if abs(count) >= size:
            return f"{count / size:.2f} {unit}"
    return f"{count} B"


def table_text(
    events: Sequence[Any],
    *,
    total: float,
    memory: bool,
    name_width: int,
    shapes_width: int,
    header: str | None,
) -> str:
    """Write ``events`` as rows, with the share of ``total`` (in microseconds) that each took."""
    if not events:
        return ""
    titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    titles += ["CPU Mem", "Self CPU Mem"] if memory else []
    titles += ["# of Calls"]
    rows = [_cells(event, total, memory, name_width) for event in events]
    if any(event.input_shapes for event in events):
        titles += ["Input Shapes"]
        for row, event in zip(rows, events, strict=True):
            row.append(_cut(str(event.input_shapes or "[]"), shapes_width))
    widths = [
        max(_NARROW, *(len(row[column]) for row in [titles, *rows]))
        for column in range(len(titles))
    ]
    rule = _GAP.join("-" * width for width in widths)
    lines = [rule, _line(titles, widths), rule, *(_line(row, widths) for row in rows), rule]
    if header is not None:
        lines = ["=" * len(rule), header, *lines]
    return "\n".join([*lines, f"Self CPU time total: {format_time(total)}", ""])


def _cells(event: Any, total: float, memory: bool, name_width: int) -> list[str]:
    cells = [
        _cut(event.key, name_width),
        _share(event.self_cpu_time_total, total),
        format_time(event.self_cpu_time_total),
        _share(event.cpu_time_total, total),
        format_time(event.cpu_time_total),
        format_time(event.cpu_time),
    ]
    if memory:
        cells += [format_memory(event.cpu_memory_usage)]
        cells += [format_memory(event.self_cpu_memory_usage)]
    return [*cells, str(event.count)]


def _share(part: float, total: float) -> str:
    return f"{100 * part / total if total else 0.0:.2f}%"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return _GAP.join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
