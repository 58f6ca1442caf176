"""A whole plot on a sheet: title and remarks, the quantities of calls, the map, what stands beside
it, and what the colours mean."""

from __future__ import annotations

from typing import Final

from gradstep.text import plural
from gradstep_viz.picture.formatting import shorten
from gradstep_viz.plots.contents import Contents, Panel
from gradstep_viz.plots.drawing import beside, cells, lines
from gradstep_viz.plots.drawing.canvas import Box, Canvas
from gradstep_viz.plots.drawing.palette import LINES, MARKERS, shade_tokens
from gradstep_viz.plots.sizes import State
from gradstep_viz.theme import CHARACTER_WIDTH, MARGIN, MUTED_SIZE, TITLE_SIZE, Tokens

WIDTH: Final = 1000.0
SIDE: Final = 210.0
LONGEST_NAME: Final = 34
GAP: Final = 30.0

SAID: Final = {
    None: "rms of .grad when the call ended",
    "rms": "rms of .grad when the call ended",
    "nan": "NaN and Inf in .grad when the call ended",
    "update": "rms of the last update / rms of the leaf",
    "loss": "loss",
    "memory": "memory in use when the call ended",
    "time": "time of the call, without what watching it took",
}


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
        if shown is not None:
            height += 22 + self.map_height + 68
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
        shown = contents.map
        assert shown is not None
        x = self.left

        def swatch(fill: str, sign: str = "", ink: str = "ink") -> None:
            nonlocal x
            canvas.swatch(Box(x, y - 10, 12, 12), fill, sign, ink)
            x += 12

        def say(text: str) -> None:
            nonlocal x
            canvas.text(x + 5, y, text, "mute", MUTED_SIZE)
            x += 5 + len(text) * CHARACTER_WIDTH * MUTED_SIZE + 18

        if contents.shading is not None:
            low, high = contents.shading.ends
            canvas.text(x, y, low, "mute", MUTED_SIZE)
            x += len(low) * CHARACTER_WIDTH * MUTED_SIZE + 5
            for token in shade_tokens(contents.shading.count):
                swatch(token)
            say(high)
        elif (shown.states == State.SIZE).any():
            swatch(cells.PLAIN)
            say("finite")
        for state, mark in cells.MARKS.items():
            if (shown.states == state).any():
                swatch(mark.fill, mark.sign, mark.ink)
                unknown = state is State.NONE and contents.what == "update"
                say("the update is not known" if unknown else mark.said)
        if shown.jumps.any() and self.map_height / len(self.names) >= cells.ROOM_FOR_MARKS:
            swatch("bg", cells.JUMP.sign, cells.JUMP.ink)
            say("jump: ten times the ten before")
        if (shown.states == State.UNRECORDED).any():
            swatch("card", "/", "line")
            say("not recorded")
        if (shown.among > 1).any():
            say("of several, a cell shows the worst")
        x = self.left + self.main + GAP
        for number, line in enumerate(contents.flow):
            swatch("bg", MARKERS[number % len(MARKERS)], LINES[number % len(LINES)])
            say(f"{line.call.index:,}")


def _height(rows: int) -> float:
    """Return how high a map is: rows as high as reads well, and never less than two pixels."""
    return max(min(rows * 20.0, max(rows * 2.0, 620.0)), 40.0)
