"""A whole plot on a sheet: title and remarks, the quantities of calls, the map, what stands beside
it, and what the colours mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from gradstep.text import plural
from gradstep_viz.picture.formatting import shorten
from gradstep_viz.plots.contents import SAID, Contents, Panel
from gradstep_viz.plots.drawing import beside, cells, lines
from gradstep_viz.plots.drawing.canvas import Box, Canvas, Swatch
from gradstep_viz.plots.drawing.palette import LINES, MARKERS, shade_tokens
from gradstep_viz.plots.maps import Map
from gradstep_viz.plots.sizes import State
from gradstep_viz.theme import CHARACTER_WIDTH, MARGIN, MUTED_SIZE, TITLE_SIZE, Tokens

WIDTH: Final = 1000.0
SIDE: Final = 210.0
LONGEST_NAME: Final = 34
GAP: Final = 30.0
_LEGEND_LINE: Final = 20.0


def draw(contents: Contents, colours: Tokens, *, vector: bool) -> Canvas:
    """Draw a plot on a sheet of its own; within :func:`~.canvas.drawing`."""
    return _Sheet(contents, colours, vector).canvas


class _Sheet:
    def __init__(self, contents: Contents, colours: Tokens, vector: bool) -> None:
        self.contents = contents
        shown = contents.map
        self.names = [] if shown is None else [shorten(r.name, LONGEST_NAME) for r in shown.rows]
        longest = max(map(len, self.names), default=0)
        self.left = MARGIN + max(longest * CHARACTER_WIDTH * MUTED_SIZE + 10, 62)
        has_side = bool(contents.flow or contents.spreads)
        self.main = WIDTH - MARGIN - self.left - (SIDE + GAP if has_side else 0)
        self.map_height = 0.0 if shown is None else _height(len(shown.rows))
        panel_height = 110.0 if shown is not None else 300.0
        top = 30.0 + 17 * (1 + len(contents.remarks))
        height = top + sum(panel_height + 34 for _ in contents.panels)
        self.legend: list[_Entry] = []
        self.legend_room = self.main if contents.flow else WIDTH - MARGIN - self.left
        if shown is not None:
            has_marks = self.map_height / len(self.names) >= cells.ROOM_FOR_MARKS
            self.legend = _legend_of(contents, shown, has_marks)
            lines_of_legend = _lines_of(self.legend, self.legend_room)
            height += 22 + self.map_height + 68 + (lines_of_legend - 1) * _LEGEND_LINE
        else:
            height += 20
        self.canvas = Canvas(WIDTH, height, colours, vector=vector)
        self._write_head()
        y = top
        for panel in contents.panels:
            self._draw_panel(panel, Box(self.left, y + 16, self.main, panel_height))
            y += panel_height + 34
        if shown is not None:
            self._draw_map(Box(self.left, y + 22, self.main, self.map_height))
            self._draw_legend(y + 22 + self.map_height + 48)

    def _write_head(self) -> None:
        canvas, contents = self.canvas, self.contents
        canvas.text(MARGIN, 30, contents.title, size=TITLE_SIZE, bold=True)
        for number, remark in enumerate(contents.remarks):
            y = 30 + 18 * (number + 1)
            sign, token = ("! ", "alert") if remark.is_alert else ("", "mute")
            canvas.text(MARGIN, y, sign + remark.text, token, bold=remark.is_alert)

    def _draw_panel(self, panel: Panel, box: Box) -> None:
        canvas, contents = self.canvas, self.contents
        axes = canvas.axes(box)
        heading = SAID[panel.quantity]
        if panel.others:
            heading += f"; {plural(panel.others, 'line')} of the program with fewer calls left out"
        if any((sery.greatest > sery.least).any() for sery in panel.series):
            heading += ": mean, least to greatest of a column"
        canvas.text(box.x, box.y - 6, heading, "mute", MUTED_SIZE)
        lines.draw_lines(canvas, axes, panel.series, panel.quantity, contents.columns)
        lines.call_axis(canvas, axes, contents.columns, labelled=contents.map is None)
        lines.draw_legend(canvas, axes)
        if contents.map is None:
            self._name_axis(box)

    def _name_axis(self, box: Box) -> None:
        text = self.contents.columns.said
        self.canvas.text(
            box.x + box.width, box.y + box.height + 30, text, "mute", MUTED_SIZE, align="right"
        )

    def _draw_map(self, box: Box) -> None:
        canvas, contents = self.canvas, self.contents
        shown = contents.map
        assert shown is not None
        canvas.text(box.x, box.y - 6, SAID[contents.what], "mute", MUTED_SIZE)
        axes = canvas.axes(box)
        axes.patch.set_gid(f"cells-{len(canvas.cells)}")
        cells.draw_cells(canvas, axes, box, shown, contents.shading)
        tokens = ["ink"] * len(self.names)
        for row, spread in enumerate(contents.spreads):
            if spread.is_zero:
                tokens[row] = "alert"
        cells.row_labels(canvas, axes, box, self.names, tokens)
        lines.call_axis(canvas, axes, contents.columns, labelled=True)
        self._name_axis(box)
        side = Box(box.x + box.width + GAP, box.y, SIDE, box.height)
        if contents.flow:
            canvas.text(side.x, box.y - 6, "in some calls: rms, greatest", "mute", MUTED_SIZE)
            ax = canvas.axes(side, beside=axes)
            beside.draw_flow(canvas, ax, contents.flow)
        elif contents.spreads:
            canvas.text(side.x, box.y - 6, "update / weight: median, range", "mute", MUTED_SIZE)
            ax = canvas.axes(side, beside=axes)
            beside.draw_spreads(canvas, ax, contents.spreads, box.height / len(self.names))

    def _draw_legend(self, y: float) -> None:
        """Explain the shades, and the marks that occur."""
        canvas, contents = self.canvas, self.contents
        x, top = self.left, y
        for entry in self.legend:
            if x > self.left and x + entry.width > self.left + self.legend_room:
                x, y = self.left, y + _LEGEND_LINE
            canvas.text(x, y, entry.before, "mute", MUTED_SIZE)
            at = x + _wide(entry.before)
            for swatch in entry.swatches:
                canvas.swatch(Box(at, y - 10, 12, 12), swatch)
                at += 12
            canvas.text(at + 5, y, entry.said, "mute", MUTED_SIZE)
            x += entry.width
        x = self.left + self.main + GAP
        for number, line in enumerate(contents.flow):
            said = f"{line.call.index:,}"
            mark = Swatch("bg", MARKERS[number % len(MARKERS)], LINES[number % len(LINES)])
            canvas.swatch(Box(x, top - 10, 12, 12), mark)
            canvas.text(x + 17, top, said, "mute", MUTED_SIZE)
            x += _Entry([mark], said).width


class _Entry(NamedTuple):
    """What one or several swatches mean, with a word before them."""

    swatches: Sequence[Swatch]
    said: str
    before: str = ""

    @property
    def width(self) -> float:
        return _wide(self.before) + 12 * len(self.swatches) + 5 + _wide(self.said) + 18


def _wide(text: str) -> float:
    return len(text) * CHARACTER_WIDTH * MUTED_SIZE + 5 if text else 0.0


def _legend_of(contents: Contents, shown: Map, has_marks: bool) -> list[_Entry]:
    entries = []
    if contents.shading is not None:
        low, high = contents.shading.ends
        shades = [Swatch(token) for token in shade_tokens(contents.shading.count)]
        entries.append(_Entry(shades, high, low))
    elif (shown.states == State.SIZE).any():
        entries.append(_Entry([Swatch(cells.PLAIN)], "finite"))
    for state, mark in cells.MARKS.items():
        if (shown.states == state).any():
            unknown = state is State.NONE and contents.what == "update"
            said = "the update is unknown" if unknown else mark.said
            entries.append(_Entry([Swatch(mark.fill, mark.sign, mark.ink)], said))
    if shown.jumps.any() and has_marks:
        said = "jump: ten times the ten before"
        entries.append(_Entry([Swatch("bg", cells.JUMP.sign, cells.JUMP.ink)], said))
    if (shown.states == State.UNRECORDED).any():
        said = "pale: not recorded, as the call before"
        entries.append(_Entry([Swatch(cells.PLAIN, veil=cells.VEIL)], said))
    if (shown.among > 1).any():
        entries.append(_Entry([], "of several, a cell shows the worst"))
    return entries


def _lines_of(entries: Sequence[_Entry], room: float) -> int:
    """Return how many lines entries take."""
    x, lines = 0.0, 1
    for entry in entries:
        if x and x + entry.width > room:
            x, lines = 0.0, lines + 1
        x += entry.width
    return lines


def _height(rows: int) -> float:
    """Return how high a map is: rows as high as reads well, and never less than two pixels."""
    return max(min(rows * 20.0, max(rows * 2.0, 620.0)), 40.0)
