"""The execution list: one row per node of the plan, in the order in which they run."""

from __future__ import annotations

from textual import events

from autograd_core.dag.model import Graph
from autograd_core.dag.statistics import format_shape
from autograd_core.debug.protocol import DebugSession
from autograd_core.debug.snapshot import Breakpoint, Snapshot
from tui.app.messages import NodeClicked
from tui.app.widgets.lanes import MAX_LANES, LaneRow, Lanes, PlanEdges, draw_row
from tui.app.widgets.line_view import LineView
from tui.app.widgets.rows import (
    FLAG_WIDTH,
    VALUE_WIDTH,
    Cells,
    describe,
    fit_columns,
    name_parts,
    natural_columns,
    overflow_width,
    source_text,
)
from tui.app.widgets.text import Line, Part, StyleName, fit, is_accumulate

# rows of lanes that are computed ahead per idle tick: about 3 ms of work
LANES_PER_TICK = 3_000


class ExecutionList(LineView):
    """The plan with its lanes, the pointer, the breakpoints and what is known of each row."""

    def __init__(self, session: DebugSession, snapshot: Snapshot) -> None:
        super().__init__()
        self.session = session
        self.snapshot = snapshot
        self.selected = min(snapshot.position, snapshot.length - 1)
        self.busy = False
        self._graph: Graph | None = None
        self._cells: dict[int, Cells] = {}
        self._rows: dict[int, LaneRow] = {}
        self._stops: dict[int, tuple[tuple[int, ...], frozenset[int]]] = {}
        self._adopt_graph(snapshot)

    def _adopt_graph(self, snapshot: Snapshot) -> None:
        if self._graph is snapshot.graph:
            return
        self._graph = snapshot.graph
        self.edges = PlanEdges(snapshot.graph, snapshot.length)
        self.lanes = Lanes(self.edges, snapshot.length)
        self.lanes.extend(LANES_PER_TICK)
        self._rows = {}
        self._natural = natural_columns(snapshot)

    def on_mount(self) -> None:
        self.update_lines()
        self._look_ahead = self.set_interval(0.03, self._compute_lanes_ahead)

    def on_resize(self) -> None:
        self.call_after_refresh(self.follow, self.selected)

    def _compute_lanes_ahead(self) -> None:
        width = self.lanes.width
        start = self.lanes.computed
        self.lanes.extend(start + LANES_PER_TICK)
        if self.lanes.width != width and width < MAX_LANES:
            self.refresh()
        if self.lanes.complete:
            self._look_ahead.pause()

    def show(self, snapshot: Snapshot, *, follow: bool) -> None:
        """Take over a new snapshot; with ``follow`` the selection goes to the current node."""
        self.snapshot = snapshot
        self._adopt_graph(snapshot)
        self._cells = {}
        self.update_lines()
        if follow:
            self.selected = min(snapshot.position, snapshot.length - 1)
            self.follow(snapshot.position)

    def select(self, index: int) -> None:
        """Move the selection, and the view only as far as needed."""
        previous, self.selected = self.selected, max(0, min(index, self.snapshot.length - 1))
        top, height = self.scroll_offset.y, self.visible_height
        self.refresh_line(previous)
        self.refresh_line(self.selected)
        if self.selected < top:
            self.scroll_to(y=self.selected, animate=False, immediate=True)
        elif self.selected >= top + height:
            self.scroll_to(y=self.selected - height + 1, animate=False, immediate=True)

    def follow(self, row: int) -> None:
        """Keep ``row`` in the middle third of the view."""
        top, height = self.scroll_offset.y, self.visible_height
        first, last = top + height // 3, top + height - 1 - height // 3
        if row < first:
            self.scroll_to(y=max(0, top + row - first), animate=False, immediate=True)
        elif row > last:
            bottom = max(0, self.line_count() - height)
            self.scroll_to(y=min(bottom, top + row - last), animate=False, immediate=True)

    def on_click(self, event: events.Click) -> None:
        index = event.get_content_offset_capture(self).y + self.scroll_offset.y
        if index < self.snapshot.length:
            self.post_message(NodeClicked(index))

    # -- lines ---------------------------------------------------------------

    def line_count(self) -> int:
        return self.snapshot.length + 1

    def is_selected(self, y: int) -> bool:
        return y == self.selected and y < self.snapshot.length

    def line(self, y: int) -> Line:
        if y >= self.snapshot.length:
            return self._end_line()
        columns = fit_columns(self._natural, self.lanes.width, self.text_width)
        graph = self.snapshot.graph
        accumulate = is_accumulate(graph.names[y])
        done = y < self.snapshot.position
        colour: StyleName = "leaf" if accumulate else "backward"
        cells = self._cells_of(y)
        line = self._gutter(y)
        line += self._lane_parts(y, columns.lanes, colour)
        line.append(Part(fit(f"#{y}", columns.number, right=True) + " ", "muted"))
        line += name_parts(graph, y, columns, done)
        if columns.shape:
            line.append(Part(fit(format_shape(graph.shapes[y]), columns.shape) + " ", "muted"))
        value_style: StyleName = "trouble" if cells.trouble else "text"
        line.append(Part(fit(cells.value, VALUE_WIDTH, right=True) + " ", value_style))
        mark = cells.trouble + " " if cells.trouble else ""
        line.append(Part(mark, "trouble"))
        line.append(Part(fit(cells.flags, FLAG_WIDTH - len(mark)), colour))
        if columns.source:
            source = fit(source_text(graph, y), columns.source - 1, right=True)
            line.append(Part(" " + source, "muted"))
        return line

    def _end_line(self) -> Line:
        here = self.snapshot.position >= self.snapshot.length
        pointer = Part("  ▶ " if here else "    ", "strong")
        return [pointer, Part("end of the backward pass", "strong" if here else "faint")]

    def _gutter(self, y: int) -> Line:
        stops = [stop for stop in self.snapshot.breakpoints if y in self._rows_of(stop)]
        stop = " " if not stops else "●" if any(stop.enabled for stop in stops) else "◌"
        position = self.snapshot.position
        mark = Part("✓ " if y < position else "  ", "muted")
        if y == position:
            mark = Part("▶ ", "strong")
        return [Part("▌" if self.is_selected(y) else " ", "strong"), Part(stop, "strong"), mark]

    def _rows_of(self, stop: Breakpoint) -> frozenset[int]:
        known = self._stops.get(stop.number)
        if known is None or known[0] is not stop.indices:
            known = self._stops[stop.number] = (stop.indices, frozenset(stop.indices))
        return known[1]

    def _lane_parts(self, y: int, lanes: int, colour: StyleName) -> Line:
        row = self._lane_row(y)
        names = self.snapshot.graph.names
        position = self.snapshot.position
        if is_accumulate(names[y]):
            glyph = "■" if y < position else "□"
        else:
            glyph = "●" if y < position else "◉" if y == position else "○"
        parts = []
        for cell in draw_row(row, lanes, glyph):
            style: StyleName = "faint"
            if cell.owner == y:
                style = colour
            elif cell.owner is not None:
                style = "leaf" if is_accumulate(names[cell.owner]) else "backward"
            parts.append(Part(cell.text, style))
        drawn = sum(len(part.text) for part in parts)
        overflow = overflow_width(self.lanes.width, lanes)
        return [*parts, Part(" " * (2 * lanes + overflow - drawn))]

    def _lane_row(self, y: int) -> LaneRow:
        if y not in self._rows:
            if len(self._rows) > 4096:
                self._rows.clear()
            start = y - y % 64
            for row in self.lanes.rows(start, start + 64):
                self._rows[row.node] = row
        return self._rows[y]

    def _cells_of(self, y: int) -> Cells:
        cells = self._cells.get(y)
        if cells is None:
            if self.busy:
                # the session is at work in its thread; it is asked again afterwards
                return Cells("", "", "")
            cells = self._cells[y] = describe(self.session.detail(y), self.snapshot, y)
        return cells
