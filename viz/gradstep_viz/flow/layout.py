"""Where everything stands in a table of rows: geometry as data, which writers turn into a
picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, product
from math import ceil, inf, prod, sqrt
from typing import Final, NamedTuple

from gradstep.graph.model import Shape
from gradstep.graph.statistics import format_bytes, format_number, format_seconds
from gradstep_viz.flow.facts import Size, scale_of, share_of
from gradstep_viz.flow.lanes import (
    MOST_LANES,
    Lanes,
    lanes_of,
    port_numbers,
)
from gradstep_viz.flow.measure import cut, tail_of, width_of
from gradstep_viz.flow.parts import BROKEN, DEAD
from gradstep_viz.flow.rows import MOST_ROWS, ExtremeKind, Link, Row, Shared, Table
from gradstep_viz.picture.formatting import count

WIDTH: Final = 830
TEXT: Final = 12
SMALL: Final = 11
TITLE: Final = 15
MARGIN: Final = 16
ROW: Final = 25
PANEL_GAP: Final = 6
CORNER: Final = 9.0
OFF: Final = 2.5
"""Lines come in above the middle of a dot, and leave below it."""
INDENT: Final = 12
PITCH: Final = 16.0
LANES_WIDTH: Final = 84.0
PORT_WIDTH: Final = 26
BAR: Final = 46
GAP: Final = 14
MOST_COLUMNS: Final = 16
"""Of a sparkline; more rounds are a curve."""
MOST_SPARE: Final = 70
LEAST_WIDE: Final = 560
"""A table has so much room behind its longest name at most, unless it were less wide than this."""
_NAMES: Final = "module or variable"
FEW_NAMES: Final = 110
_LEFT_OUT: Final = (
    "seconds", "saved bar", "saved", "attributes", "their gradient", "in", "parameters",
)  # fmt: skip
"""What goes where there is no room, in this order."""
MOST_SHUT: Final = 6
MOST_SHARED: Final = 4
LEAST_NAMES: Final = 190

BETWEEN_RUNS: Final = "\u00a0|\u00a0"

MARKS: Final[dict[ExtremeKind, tuple[str, str, str]]] = {
    "smallest": ("▼", "smallest", "Smallest gradient of a row"),
    "inside": ("", "", "Smallest of all"),
    "largest": ("▲", "largest", "Largest gradient of a row"),
    "layer": ("■", "largest layer", "Largest layer"),
}
"""The sign, the word in a row, and what it is."""

Tone = str


class Words(NamedTuple):
    """A text; ``x`` is its end where ``at_end``. ``parts`` are texts in tones of their own, one
    behind the other."""

    x: float
    y: float
    parts: tuple[tuple[str, Tone], ...]
    at_end: bool = False
    size: float = TEXT

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.parts)

    @property
    def width(self) -> float:
        return sum(width_of(text, self.size, bold="b" in tone.split()) for text, tone in self.parts)

    @property
    def left(self) -> float:
        return self.x - self.width if self.at_end else self.x


class Block(NamedTuple):
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float
    tone: Tone
    corner: float = 0


class Stroke(NamedTuple):
    """A line: from (x, y) level to the lane ``lane_x``, along it, and level to the other end."""

    source: int
    target: int
    lane_x: float
    start: tuple[float, float]
    end: tuple[float, float]
    width: float
    tone: Tone


class Dot(NamedTuple):
    """The mark of a row in its lane: "full" has parameters, "hollow" none, "ring" is an output,
    "square" an input, "zero" a row that no gradient reaches; round what ``is_residual`` leads an
    arc."""

    x: float
    y: float
    kind: str
    tone: Tone
    is_residual: bool = False


class RowPicture(NamedTuple):
    """What stands in one row."""

    number: int
    y: float
    words: tuple[Words, ...]
    blocks: tuple[Block, ...]
    curve: tuple[tuple[float, float], ...]
    dot: Dot | None
    tooltip: str
    tone: Tone = ""


class FlowPicture(NamedTuple):
    """A table of rows as a picture; ``way`` leads from rows with marks to the loss."""

    title: str
    captions: tuple[str, ...]
    width: float
    height: float
    words: tuple[Words, ...]
    blocks: tuple[Block, ...]
    strokes: tuple[Stroke, ...]
    rows: tuple[RowPicture, ...]
    table: Table
    lanes: Lanes
    foot: tuple[str, ...]
    way: tuple[Stroke, ...] = ()


class PageRows(NamedTuple):
    """The rows of a page: as they are open, and those that can be closed as they are then.

    ``links`` are source, target, the x of the lane, width and tone; ``places`` the x of the lane of
    each row.  ``ports`` are links that end in ports: source, target, number, width and tone; their
    numbers stand at ``port``.  The first row is at ``top``, names begin at ``names``.
    """

    rows: tuple[RowPicture, ...]
    closed: tuple[RowPicture | None, ...]
    links: tuple[tuple[int, int, float, float, Tone], ...]
    places: tuple[float, ...]
    ports: tuple[tuple[int, int, int, float, Tone], ...]
    port: float
    top: float
    names: float


class _Columns(NamedTuple):
    """The right ends of columns, 0 for those that are left out."""

    names: float
    arrow: float
    shapes: float
    parameters: float
    their_gradient: float
    bar: float
    gradient: float
    saved_bar: float
    saved: float
    seconds: float
    attributes: bool
    ins: bool


def lay_out_rows(
    table: Table, title: str, captions: Sequence[str], foot: Sequence[str], width: float = WIDTH
) -> FlowPicture:
    """Lay a table out at a width."""
    return _Layout(table, width).picture(title, tuple(captions), tuple(foot))


def lay_out_page(table: Table, title: str, captions: Sequence[str]) -> tuple[FlowPicture, PageRows]:
    """Lay out a table whose headers can be closed: its frame, and its rows."""
    return _Layout(table, WIDTH).page(title, tuple(captions))


class _Layout:
    def __init__(self, table: Table, width: float) -> None:
        self._table, self._width = table, width
        rows = table.rows
        dots = [at for at, row in enumerate(rows) if row.has_dot]
        ends = [(link.source, link.target) for link in table.links]
        weights = {
            at: 1 + sqrt(prod(row.shapes_out[0] or ()))
            for at, row in enumerate(rows)
            if row.shapes_out
        }
        untangles = len(rows) <= MOST_ROWS  # more take long
        around = [{*_headers(rows, at)} for at in range(len(rows))]
        near = {(one, other): len(around[one] & around[other]) for one, other in ends}
        self._lanes = lanes = lanes_of(dots, ends, weights, near, untangles=untangles)
        self._pitch = PITCH if lanes.number <= 5 else max(8.0, LANES_WIDTH / lanes.number)
        self._read = Counter(target for _, target in lanes.links)
        self._ports = self._named_ports()
        ports = max((width_of(text, 10, bold=True) for text in self._ports.values()), default=0)
        self._spine = MARGIN + 6 + (lanes.number - 1) * self._pitch
        self._names = self._spine + 16 + ports + (3 if ports else 0)
        self._scale = scale_of(
            [
                one
                for row in rows if not row.is_scalar
                for one in (*row.gradients, *row.others) if one is not None
            ]
        )  # fmt: skip
        self._batch = _common_size(rows)
        self._most_saved = max((row.saved for row in rows if row.kind == "row"), default=0)
        self._most_seconds = max((row.seconds or 0.0 for row in rows), default=0.0)
        self._has = self._known()
        self._columns = self._fit()
        self._y: list[float] = []

    def _named_ports(self) -> dict[int, str]:
        """Return what stands beside the dots of lines that continue elsewhere, or are collected."""
        ports = {
            at: cut(_ranges(numbers), PORT_WIDTH, 10, bold=True)
            for at, numbers in port_numbers(self._lanes).items()
        }
        collected = {target for _, target in self._lanes.collected} - {*ports}
        return ports | {at: f"{self._read[at]} in" for at in collected}

    def _known(self) -> dict[str, bool]:
        """Return for which columns there are numbers."""
        rows = self._table.rows
        return {
            "parameters": any(row.parameters for row in rows),
            "gradient": any(one is not None for row in rows for one in row.gradients),
            "others": any(one is not None for row in rows for one in row.others),
            "saved": any(row.saved or row.is_recomputed for row in rows),
            "seconds": self._most_seconds > 0,
        }

    def _fit(self) -> _Columns:
        """Leave out what has no room: the time, what is saved, its bar first, and attributes, in
        this order."""
        needed = max(map(self._whole_width, self._table.rows))
        columns = self._ends(())
        spare = columns.names - self._names - needed - MOST_SPARE
        if spare > 0:  # else an eye loses the row on its way to the shapes
            self._width = ceil(max(min(self._width, LEAST_WIDE), self._width - spare))
            columns = self._ends(())
        for number in range(len(_LEFT_OUT) + 1):
            columns = self._ends(_LEFT_OUT[:number])
            enough = LEAST_NAMES if number <= _LEFT_OUT.index("attributes") else FEW_NAMES
            if self._heading_left(columns) - self._names >= width_of(_NAMES, SMALL) + 4 and all(
                self._name_end(row, columns) - self._names >= min(self._name_width(row), enough)
                for row in self._table.rows
            ):
                break
        return columns

    def _whole_width(self, row: Row) -> float:
        """Return how much room all takes that may stand behind a name, and the name."""
        more = width_of(f" · {row.note} {row.with_text}") if row.note or row.operands else 0
        badges = sum(map(self._badge_width, (row.badge, *self._marks(row, (inf,)))))
        return self._name_width(row) + more + badges

    @staticmethod
    def _name_width(row: Row) -> float:
        """Return how much room a row needs for its name, its class and its attributes."""
        name = width_of(row.name or row.kind_text, bold=True)
        more = width_of(f"  {row.kind_text} {row.details}") if row.name else 0
        return INDENT * row.depth + name + more

    def _ends(self, left_out: Sequence[str]) -> _Columns:
        at = self._width - MARGIN
        has = {name: known and name not in left_out for name, known in self._has.items()}
        seconds = saved = saved_bar = gradient = bar = their = parameters = 0.0
        if has["seconds"]:
            seconds, at = at, at - 62 - GAP
        if has["saved"]:
            saved, at = at, at - 58
            if "saved bar" not in left_out:
                saved_bar, at = at, at - 40
            at -= GAP
        if has["gradient"]:
            gradient, bar = at, at - max(58, ceil(self._widest_gradient()) + 8)
            at = bar - BAR - GAP
        if has["parameters"]:
            if has["gradient"] and "their gradient" not in left_out:
                their, at = at, at - 54
            widest = max(
                width_of(parameters_text(row), bold="layer" in row.extremes)
                for row in self._table.rows
            )
            parameters, at = at, at - max(52, ceil(widest) + 4) - GAP
        ins = max((width_of(self._shape(row.shapes_in)) for row in self._table.rows), default=0.0)
        outs = max(
            (
                width_of(self._out(row), bold=bool(row.value))
                + (width_of(BETWEEN_RUNS + row.other_value) if row.other_value else 0)
                for row in self._table.rows
            ),
            default=0.0,
        )
        ins = ins + 14 if ins and "in" not in left_out else 4
        least = width_of(self._shape_heading, SMALL)
        shapes = at
        arrow = at - max(outs, least - ins) - 4
        names = arrow - ins - GAP
        return _Columns(
            names, arrow, shapes, parameters, their, bar, gradient, saved_bar, saved, seconds,
            "attributes" not in left_out, "in" not in left_out,
        )  # fmt: skip

    def _widest_gradient(self) -> float:
        return max(
            sum(width_of(text, bold="b" in tone) for text, tone in _gradient_texts(row, ""))
            for row in self._table.rows
        )

    @property
    def _shape_heading(self) -> str:
        return f"shape, each {self._batch} ×" if self._batch else "shape"

    def picture(self, title: str, captions: tuple[str, ...], foot: tuple[str, ...]) -> FlowPicture:
        room = self._width - 2 * MARGIN
        words = (
            [Words(MARGIN, 26, ((cut(title, room, TITLE, bold=True), "b"),), size=TITLE)]
            if title
            else []
        )
        y = 26.0 if title else 6.0
        for text in captions:
            for line in _wrapped(text, room, SMALL):
                y += 18 if y > 6 else 14
                words.append(Words(MARGIN, y, ((line, "m"),), size=SMALL))
        y += 23
        words += self._heading(y)
        blocks = [Block(MARGIN, y + 9, room, 1, "line")]
        y += 11
        panel = 0
        starts: dict[int, float] = {}
        ends: dict[int, float] = {}
        for row in self._table.rows:
            if row.panel != panel:
                y += PANEL_GAP
                panel = row.panel
                if panel:
                    starts[panel] = y
            self._y.append(y + ROW / 2)
            y += ROW
            if panel:
                ends[panel] = y
        for one, top in starts.items():
            x = self._names - 9
            blocks.append(Block(x, top, self._width - 8 - x, ends[one] - top, "panel", 6))
        blocks += self._hairlines()
        y += 6
        blocks.append(Block(MARGIN, y, room, 1, "line"))
        texts = [(text, "m") for text in (*self._explained(), *self._shut(), *foot)]
        for text, tone in [(extremes_text(self._table), ""), *texts]:
            for line in _wrapped(text, room, SMALL):
                y += 17
                words.append(Words(MARGIN, y, ((line, tone),), size=SMALL))
        strokes = self._strokes()
        rows = tuple(self._row(at, row) for at, row in enumerate(self._table.rows))
        words += self._port_words()
        return FlowPicture(
            title, captions, self._width, y + 14, tuple(words), tuple(blocks), tuple(strokes), rows,
            self._table, self._lanes, foot, tuple(self._way(strokes)),
        )  # fmt: skip

    def _way(self, strokes: Sequence[Stroke]) -> Iterator[Stroke]:
        """Yield the lines on the shortest ways from rows with marks to an output."""
        below: dict[int, list[Stroke]] = {}
        for stroke in strokes:
            below.setdefault(stroke.source, []).append(stroke)
        for start in self._table.marked:
            came: dict[int, Stroke | None] = {start: None}
            for at in (order := [start]):  # which grows
                if self._table.rows[at].is_output:
                    break
                for stroke in below.get(at, ()):
                    if stroke.target not in came:
                        came[stroke.target] = stroke
                        order.append(stroke.target)
            back = came[at] if self._table.rows[at].is_output else None
            while back is not None:
                yield back
                back = came[back.source]

    def page(self, title: str, captions: tuple[str, ...]) -> tuple[FlowPicture, PageRows]:
        """Return the frame of a page, and its rows, each as if it stood at the top."""
        frame = self.picture(title, captions, ())
        number = len(self._table.rows)
        self._y = [ROW / 2] * number
        lanes = dict(self._lanes.of)
        for at in range(number - 1, -1, -1):  # a closed header stands in the lane of its last row
            header = self._table.rows[at].header
            if header >= 0 and at in lanes:
                lanes.setdefault(header, lanes[at])
        rows = tuple(self._row(at, row) for at, row in enumerate(self._table.rows))
        closed = tuple(
            None if row.closed is None else self._row(at, row.closed, lanes[at])
            for at, row in enumerate(self._table.rows)
        )
        links = [
            (link.source, link.target, self._x(max(0, lane)), *self._river(link))
            for link in self._table.links
            if (lane := self._lanes.links[link.source, link.target]) >= 0
        ]
        places = tuple(self._x(lanes[at]) for at in range(number))
        ports = tuple(
            (link.source, link.target, self._lanes.ports[link.source], *self._river(link))
            for link in self._table.links
            if self._lanes.links[link.source, link.target] < 0
        )
        top = next(block.y for block in frame.blocks if block.tone == "line") + 2
        return frame, PageRows(
            rows, closed, tuple(links), places, ports, self._spine + 13, top, self._names
        )

    def _heading(self, y: float) -> list[Words]:
        columns = self._columns
        shape = self._shape_heading
        left = self._heading_left(columns)
        heading = [Words(left, y, ((shape, "m"),), size=SMALL)]
        if left - self._names >= width_of(_NAMES, SMALL) + 4:
            heading.append(Words(self._names, y, ((_NAMES, "m"),), size=SMALL))
        if columns.parameters:
            text = "parameters, gradient" if columns.their_gradient else "parameters"
            end = columns.their_gradient or columns.parameters
            heading.append(Words(end, y, ((text, "m"),), True, SMALL))
        rounds = any(row.badge for row in self._table.rows)
        if columns.gradient:
            text = "gradient ↑, first … last" if rounds else "gradient ↑"
            heading.append(Words(columns.bar - BAR, y, ((text, "m"),), size=SMALL))
        if columns.saved_bar:
            text = "saved, all rounds" if rounds else "saved"
            heading.append(Words(columns.saved_bar - 40, y, ((text, "m"),), size=SMALL))
        elif columns.saved:
            heading.append(Words(columns.saved, y, (("saved", "m"),), True, SMALL))
        if columns.seconds:
            heading.append(Words(columns.seconds, y, (("time", "m"),), True, SMALL))
        return heading

    def _heading_left(self, columns: _Columns) -> float:
        """Return where the heading of shapes begins: its middle is above the arrows."""
        wide = width_of(self._shape_heading, SMALL)
        return min(columns.arrow + wide / 2, columns.shapes) - wide

    def _x(self, lane: int) -> float:
        return self._spine - lane * self._pitch

    def _hairlines(self) -> list[Block]:
        lines = []
        rows = self._table.rows
        for at, row in enumerate(rows):
            if row.kind != "header":
                continue
            last = at
            while last + 1 < len(rows) and rows[last + 1].depth > row.depth:
                last += 1
            if last > at and row.panel == rows[last].panel and not row.badge:
                x = self._names + INDENT * row.depth + 3
                top = self._y[at] + 9
                lines.append(Block(x, top, 1, self._y[last] + 8 - top, "line"))
        return lines

    def _strokes(self) -> list[Stroke]:
        lanes = self._lanes
        strokes = []
        for link in self._table.links:
            lane = lanes.links[link.source, link.target]
            if lane < 0:
                continue
            start = self._x(lanes.of[link.source]), self._y[link.source]
            end = self._x(lanes.of[link.target]), self._y[link.target]
            width, tone = self._river(link)
            strokes.append(Stroke(link.source, link.target, self._x(lane), start, end, width, tone))
        strokes.sort(
            key=lambda one: (one.lane_x, one.tone != "none", -one.width, one.source, one.target)
        )
        ported: dict[int, Link] = {}
        for link in self._table.links:
            if lanes.links[link.source, link.target] < 0:
                ported.setdefault(link.source, link)
                ported.setdefault(link.target, link)
        stubs = []
        for at, link in sorted(ported.items()):
            y = self._y[at]
            start, end = (self._spine + 11, y), (self._x(lanes.of[at]), y)
            width, tone = self._river(link)
            stubs.append(Stroke(at, at, end[0], start, end, min(width, 3), tone))
        return stubs + strokes

    def _river(self, link: Link) -> tuple[float, Tone]:
        """Return how wide a line is, and its tone: as much gradient as flows up it."""
        if link.size is None:
            return 1.4, "none"
        if link.size.state == DEAD:
            return 1.4, "zero"
        widest = min(9.0, self._pitch - 5)
        share = share_of(link.size, self._scale)
        return 1.6 + share * (widest - 1.6), "broken" if link.size.state == BROKEN else "lane"

    def _port_words(self) -> Iterator[Words]:
        """Write the numbers of ports."""
        for at, text in self._ports.items():
            tone = "b" if at in self._lanes.ports else "m"
            yield Words(self._spine + 13, self._y[at] + 3.6, ((text, tone),), size=10)

    def _row(self, at: int, row: Row, lane: int = 0) -> RowPicture:
        y, columns = self._y[at], self._columns
        base = y + 4
        words: list[Words] = []
        blocks: list[Block] = []
        curve: list[tuple[float, float]] = []
        self._name(row, base, words, blocks)
        muted = "m" if row.kind == "header" else ""
        if text := self._in(row, columns):
            words.append(Words(columns.arrow - 16, base, ((text, "m"),), True))
        if columns.ins and row.kind == "row" and row.shapes_out and not row.is_scalar:
            words.append(Words(columns.arrow - 2, base, (("→", "m"),), True, SMALL))
        if text := self._out(row):
            tone = "b" if row.value else "m" if row.is_scalar else muted
            parts: list[tuple[str, Tone]] = [(text, tone)]
            if row.other_value:
                parts += [(BETWEEN_RUNS, "m"), (row.other_value, "second")]
            words.append(Words(columns.arrow + 2, base, tuple(parts)))
        if row.parameters and columns.parameters:
            tone = muted or "m" * (row.kind == "row" and not row.own)
            if "layer" in row.extremes and "layer" not in row.hidden:
                tone = "b"
            words.append(Words(columns.parameters, base, ((parameters_text(row), tone),), True))
        if row.parameter_gradient is not None and columns.their_gradient:
            words.append(
                Words(columns.their_gradient, base, (_size(row.parameter_gradient, muted),), True)
            )
        if columns.gradient:
            self._gradient(row, y, words, blocks, curve)
        if columns.saved and row.is_recomputed:
            words.append(Words(columns.saved, base, (("recomputed", "m"),), True))
        elif columns.saved and row.saved:
            words.append(Words(columns.saved, base, ((format_bytes(row.saved), muted),), True))
            if row.kind == "row" and columns.saved_bar:
                share = max(1.0, 40 * row.saved / self._most_saved)
                blocks.append(Block(columns.saved_bar - 40, y - 4, share, 8, "memory"))
        if columns.seconds and row.seconds:
            words.append(
                Words(columns.seconds, base, ((format_seconds(row.seconds), muted),), True)
            )
        dot = self._dot(at, row, lane)
        tone = "alert" if row.state == BROKEN or row.tone == "alert" else ""
        shapes = tuple(words), tuple(blocks), tuple(curve)
        return RowPicture(at, y, *shapes, dot, tooltip_of(row), tone)

    def _name(self, row: Row, base: float, words: list[Words], blocks: list[Block]) -> None:
        x = self._names + INDENT * row.depth
        room = self._name_end(row, self._columns) - x
        kind = row.kind_text if row.name else ""
        free = room - width_of(row.name or row.kind_text, bold=True) - self._badge_width(row.badge)
        texts = _texts_of(kind, row)
        needed = width_of(f"  {kind}") + 8 if kind else 0
        noted = width_of(f"  {kind} · {row.note}") + 8 if row.note else needed
        detailed = noted + width_of(f" {row.details}") if kind and row.details else noted
        marks = self._marks(row, (free - detailed, free - noted, free - needed))
        badge = sum(map(self._badge_width, (row.badge, *marks)))
        title = cut(row.name or row.kind_text, room - badge, bold=True)
        left = room - badge - width_of(title, bold=True) - 8
        parts: list[tuple[str, Tone]] = [(title, "b")]
        if row.tone:  # this is what one has come for
            parts.append((f"  {cut(row.note, left, keep_end=False)}", row.tone))
        elif text := _fitting(texts[0 if self._columns.attributes else 1 :], left):
            parts.append((f"  {text}", "m"))
        one = Words(x, base, tuple(parts))
        words.append(one)
        at = x + one.width + 8
        for text in filter(None, (row.badge, *marks)):
            wide = self._badge_width(text) - 8
            tone = "badge" if text == row.badge else "mark"
            blocks.append(Block(at, base - 12.5, wide, 17, tone, 8.5))
            words.append(Words(at + 7, base - 0.3, ((text, "b"),), size=SMALL))
            at += wide + 8

    @staticmethod
    def _badge_width(text: str) -> float:
        return width_of(text, SMALL, bold=True) + 22 if text else 0

    def _name_end(self, row: Row, columns: _Columns) -> float:
        """Return how far a name may reach: to what its own row has in the columns of shapes."""
        if text := self._in(row, columns):
            return columns.arrow - 16 - width_of(text) - GAP
        if columns.ins and row.kind == "row" and row.shapes_out and not row.is_scalar:
            return columns.arrow - 16 - GAP
        if self._out(row) or not columns.shapes:
            return columns.arrow + 2 - GAP
        return columns.shapes - GAP

    def _marks(self, row: Row, rooms: Sequence[float]) -> list[str]:
        """Return the words for what is smallest or largest here, or signs where these fit into the
        first of some rooms that either fit into."""
        texts = [
            (f"{sign} {word} inside" if one in row.hidden else f"{sign} {word}", sign)
            for one, (sign, word, _) in MARKS.items()
            if one in row.extremes
        ]
        for room, words in product(rooms, (0, 1)):
            if sum(self._badge_width(text[words]) for text in texts) <= room:
                return [text[words] for text in texts]
        return [sign for _, sign in texts]

    def _gradient(
        self, row: Row, y: float, words: list[Words], blocks: list[Block],
        curve: list[tuple[float, float]],
    ) -> None:  # fmt: skip
        columns, base = self._columns, y + 4
        known = [one for one in row.gradients if one is not None]
        if not known:
            return
        muted = "m" if row.kind == "header" or row.is_scalar else ""
        drawn = row.gradients
        words.append(Words(columns.gradient, base, _gradient_texts(row, muted), True))
        if row.kind == "header" or row.is_scalar:
            return
        other = next((one for one in row.others if one is not None), None)
        left = columns.bar - BAR
        if other is not None:
            share = share_of(other, self._scale)
            blocks.append(Block(left, y + 6, share * BAR, 3, "second"))
        if len(drawn) > MOST_COLUMNS:
            step = BAR / (len(drawn) - 1)
            curve += [
                (left + n * step, y + 7 - 13 * share_of(one, self._scale))
                for n, one in enumerate(drawn)
                if one is not None
            ]
            return
        wide = BAR / len(drawn)
        for number, one in enumerate(drawn):
            if one is None:
                continue
            share = share_of(one, self._scale)
            x = left + number * wide
            if len(drawn) == 1:
                if one.state == DEAD:
                    blocks.append(Block(x, y - 3.5, BAR, 7, "hollow"))
                else:
                    tone = "brokenbar" if one.state == BROKEN else "bar"
                    blocks.append(Block(x, y - 4, share * BAR, 8, tone))
            else:
                high = max(1.0, 15 * share)
                tone = {BROKEN: "brokenbar", DEAD: "zerobar"}.get(one.state, "bar")
                blocks.append(Block(x, y + 7.5 - high, max(1.0, wide - 1.2), high, tone))

    def _dot(self, at: int, row: Row, lane: int) -> Dot | None:
        if not row.has_dot:
            return None
        x, y = self._x(self._lanes.of.get(at, lane)), self._y[at]
        if row.is_output:
            return Dot(x, y, "ring", "broken" if row.state == BROKEN else "")
        if row.kind == "input":
            return Dot(x, y, "square", "")
        tone = {BROKEN: "broken", DEAD: "zero"}.get(row.state, "")
        if not tone and self._has["gradient"] and not any(row.gradients):
            tone = "zero"
        return Dot(x, y, "full" if row.parameters else "hollow", tone, row.is_residual)

    def _shape(self, shapes: Sequence[Shape | None]) -> str:
        return shape_text(shapes, 1 if self._batch else 0)

    def _in(self, row: Row, columns: _Columns) -> str:
        """Return the shape of what comes in; "" where that of the result is the same and its room
        is needed for the name."""
        text = self._shape(row.shapes_in)
        if not columns.ins or row.is_scalar or text != self._out(row):
            return text if columns.ins and not row.is_scalar else ""
        start = self._names + self._whole_width(row) + GAP
        return text if start <= columns.arrow - 16 - width_of(text) else ""

    def _out(self, row: Row) -> str:
        if row.value:
            return f"= {row.value}"
        if not row.shapes_out or row.shapes_out[0] is None:
            return ""
        return "scalar" if row.is_scalar else self._shape(row.shapes_out)

    def _shut(self) -> list[str]:
        """Say what is inside of what is shut, once for each kind of which none is open."""
        rows = self._table.rows
        opened = {row.alike for row in rows if row.kind == "header"}
        texts = {
            row.inside if row.is_container else row.alike or row.name: (
                f"{(not row.is_container and row.kind_text) or row.name} = {row.inside}"
            )
            for row in reversed(rows)
            if row.inside and row.name and row.alike not in opened
        }
        return list(texts.values())[::-1][:MOST_SHUT]

    def _explained(self) -> list[str]:
        """Explain the marks that occur."""
        rows = self._table.rows
        said = {
            "● has parameters, ○ has none.": any(
                row.kind == "row" and row.parameters for row in rows
            ),
            "× N: a column or a point for each round, the first at the left.": any(
                row.badge for row in rows
            ),
            "( ): counted above.": any(
                row.parameters and not row.own for row in rows if row.kind == "row"
            ),
            "Recomputed: a checkpoint keeps its input and runs again.": self._columns.saved
            and any(row.is_recomputed for row in rows),
            "State: continues in the next round.": any(row.is_state for row in rows),
            "An arc at a dot: a residual connection inside.": any(row.is_residual for row in rows),
            "A number beside a dot: a line that continues at the same number.": self._lanes.ports,
            "N in: reads N values from one lane.": self._lanes.collected,
        }
        marks = [text for text, occurs in said.items() if occurs]
        of_gradients = " ".join(self._explained_gradients() if self._has["gradient"] else [])
        return [of_gradients, " ".join(marks)] if marks else [of_gradients]

    def _explained_gradients(self) -> list[str]:
        links, states = self._table.links, {row.state for row in self._table.rows}
        low, high = (format_number(10.0**power) for power in self._scale)
        said = {
            f"Bars and line widths: rms of the gradient at each output, log scale from {low} "
            f"to {high}.": True,
            "Blue: the second run.": self._has["others"],
            "Dashed: 0.": DEAD in states
            or any(link.size is not None and link.size.state == DEAD for link in links),
            "Red: NaN or infinite.": BROKEN in states,
            "Thin: no gradient.": any(link.size is None for link in links),
        }
        return [text for text, occurs in said.items() if occurs]


def _texts_of(kind: str, row: Row) -> tuple[str, ...]:
    """Return what may stand behind a name, from all there is to the class alone."""
    operands = f"{kind} {row.with_text}".strip()
    detailed = f"{kind} {row.details}".strip()
    whole = f"{detailed} {row.with_text}".strip()
    first = f"{kind.partition(',')[0]}, …" if "," in kind else kind
    short = "shared" if row.note.startswith("shared") else row.note
    return tuple(
        " · ".join(filter(None, texts))
        for texts in (
            (whole, row.note), (operands, row.note), (operands, short), (operands,),
            (kind, short), (first,),
        )
    )  # fmt: skip


def _fitting(texts: Sequence[str], room: float) -> str:
    """Return the first of some texts that fits into a room, else the end of the last."""
    return next((text for text in texts if width_of(text) <= room), tail_of(texts[-1], room))


def _headers(rows: Sequence[Row], at: int) -> Iterator[int]:
    """Yield the headers above a row, from the inside out."""
    while (at := rows[at].header) >= 0:
        yield at


def _common_size(rows: Sequence[Row]) -> int:
    """Return the first size that all shapes share, 0 if they do not."""
    shapes = [
        shape
        for row in rows
        for shape in (*row.shapes_in, *row.shapes_out)
        if shape is not None and prod(shape) != 1 and not row.is_scalar
    ]
    firsts = {shape[0] for shape in shapes if shape}
    return firsts.pop() if len(firsts) == 1 and all(len(shape) > 1 for shape in shapes) else 0


def _ranges(numbers: Sequence[int]) -> str:
    """
    >>> _ranges([1, 2, 3, 5])
    '1–3,5'
    """
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ",".join(str(one) if one == other else f"{one}–{other}" for one, other in spans)


def shape_text(shapes: Sequence[Shape | None], skip: int = 0) -> str:
    """Write a shape without its first ``skip`` sizes; of several those that the first size takes.

    >>> shape_text([(2, 3)]), shape_text([(7, 16), (22, 16)]), shape_text([(7, 16)], 1)
    ('2×3', '7…22×16', '16')
    """
    known = [shape for shape in shapes if shape]
    if not known:
        return ""
    rest = [*known[0][1:]]
    if skip and rest:
        return "×".join(map(str, rest))
    firsts = [shape[0] for shape in known]
    if min(firsts) < max(firsts) and all([*shape[1:]] == rest for shape in known):
        return "×".join([f"{min(firsts)}…{max(firsts)}", *map(str, rest)])
    return "×".join(map(str, known[0]))


def size_text(size: Size) -> str:
    """Write the size of a gradient in two digits.

    >>> size_text(Size(0.00123)), size_text(Size(0.0, DEAD)), size_text(Size(1.0))
    ('0.0012', '0', '1')
    """
    if size.state == BROKEN:
        return size.word
    return format_number(float(f"{size.rms:.2g}"))


def _gradient_texts(row: Row, tone: Tone) -> tuple[tuple[str, Tone], ...]:
    """Return the size of the gradient of a row; of several rounds that of the first and of the
    last, and behind a line that of the second run."""
    known = [one for one in row.gradients if one is not None]
    if not known:
        return ()
    if {"smallest", "largest"} & {*row.extremes} - {*row.hidden}:
        tone = "b"
    texts = [_size(known[0], "m" if row.kind == "header" else tone)]
    if size_text(known[-1]) != size_text(known[0]):
        texts += [("…", "m"), _size(known[-1], texts[0][1])]
    other = next((one for one in row.others if one is not None), None)
    if other is not None and row.kind != "header" and size_text(other) != size_text(known[0]):
        texts += [
            (BETWEEN_RUNS, "m"),
            (size_text(other), "x" if other.state == BROKEN else "second"),
        ]
    return tuple(texts)


def parameters_text(row: Row) -> str:
    """Write how many parameters a row has, of several rounds as a product; those that an earlier
    row has, too, in parentheses.

    >>> parameters_text(Row("row", 0, parameters=300, own=300, each=100, rounds=((), (), ())))
    '3 × 100'
    >>> parameters_text(Row("row", 0, parameters=270, own=30))
    '30 + (240)'
    """
    if row.kind != "row" or row.own == row.parameters:
        return f"{len(row.rounds)} × {count(row.each)}" if row.each else count(row.parameters)
    own = f"{count(row.own)} + " if row.own else ""
    return f"{own}({count(row.parameters - row.own)})"


def extremes_text(table: Table) -> str:
    """Say where gradients are smallest and largest, which layer is the largest, what is shared.

    >>> from gradstep_viz.flow.rows import Extreme
    >>> small = Extreme("smallest", 0, "fc1", Size(0.001))
    >>> extremes_text(Table([], [], (small, Extreme("layer", 0, "fc2", None, 4096))))
    'Smallest gradient of a row ▼: 0.001 at fc1. Largest layer ■: fc2, 4.1 k parameters.'
    """
    texts = []
    for one in table.extremes:
        title = " ".join(filter(None, (MARKS[one.kind][2], MARKS[one.kind][0])))
        if one.size is not None:
            texts.append(f"{title}: {size_text(one.size)} at {one.where}.")
            continue
        more = f" (as {one.ties} more)" if one.ties else ""
        texts.append(f"{title}: {one.where}{more}, {count(one.parameters)} parameters.")
    if table.shared:
        texts.append(f"Shared weights: {_shared_text(table.shared)}.")
    return " ".join(texts)


def _shared_text(shared: Sequence[Shared]) -> str:
    """Say how often layers are used.

    >>> _shared_text([Shared("a", 2), Shared("b", 2), Shared("wte", 2, ("wte", "lm_head"))])
    'a, b (2 uses each), wte (2 uses: wte, lm_head)'
    """
    texts = []
    for (uses, names), alike in groupby(shared, lambda one: (one.uses, one.names)):
        layers = [one.layer for one in alike]
        more = f", … {len(layers) - MOST_SHARED} more" if len(layers) > MOST_SHARED else ""
        each = " each" if len(layers) > 1 else ""
        said = f": {', '.join(names)}" if names else ""
        texts.append(f"{', '.join(layers[:MOST_SHARED])}{more} ({uses} uses{each}{said})")
    return ", ".join(texts)


def _size(size: Size, tone: Tone) -> tuple[str, Tone]:
    return size_text(size), "x" if size.state == BROKEN else tone


def tooltip_of(row: Row) -> str:
    """Say all that is known of a row."""
    first = " ".join(
        filter(
            None,
            (
                row.name or row.kind_text,
                row.kind_text if row.name else "",
                row.details,
                row.with_text,
                row.badge,
            ),
        )
    )
    lines = [first, row.path] if row.path and row.path != row.name else [first]
    for one in row.extremes:
        lines.append(f"{MARKS[one][2].lower()}{' inside' if one in row.hidden else ''}")
    lines += filter(None, (row.note, "residual" * row.is_residual))
    shapes = [shape for shape in (*row.shapes_in[:1], *row.shapes_out[:1]) if shape is not None]
    if shapes:
        lines.append(" → ".join(str(list(shape)) for shape in shapes))
    if row.ops:
        lines.append("1 op" if row.ops == 1 else f"{row.ops} ops")
    if row.parameters:
        lines.append(f"{row.parameters:,} parameters")
    known = [one for one in row.gradients if one is not None]
    if known:
        texts = [size_text(one) for one in known]
        lines.append(f"gradient {' '.join(texts[:24])}{' …' if len(texts) > 24 else ''}")
    if row.parameter_gradient is not None:
        lines.append(f"gradient of its parameters {size_text(row.parameter_gradient)}")
    if row.saved or row.is_recomputed:
        lines.append(f"saved {format_bytes(row.saved)}" if row.saved else "recomputed")
    if row.seconds:
        lines.append(f"time {format_seconds(row.seconds)}")
    return "\n".join(lines)


def _wrapped(text: str, room: float, size: float) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


__all__ = ["MOST_LANES", "WIDTH", "FlowPicture", "lay_out_rows"]
