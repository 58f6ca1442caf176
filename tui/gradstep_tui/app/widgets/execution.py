"""The execution list: one row per node of the plan, in the order in which they run."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from textual import events
from textual.message import Message

from gradstep.debugger.snapshot import Breakpoint
from gradstep.graph.addresses import step_number
from gradstep.graph.statistics import format_number
from gradstep.text import plural, printable
from gradstep_tui.app.plan.lanes import MAX_LANES, Lanes
from gradstep_tui.app.plan.listing import ListedRows, Order
from gradstep_tui.app.plan.modules import Rows, Span
from gradstep_tui.app.sections.page import ScreenView, Shown
from gradstep_tui.app.widgets.line_view import ViewWidget
from gradstep_tui.app.widgets.rows import (
    EXTREMES_WIDTH,
    FLAG_WIDTH,
    VALUE_WIDTH,
    Cells,
    Heading,
    RowWidths,
    describe,
    fit_columns,
    forward_text,
    headings,
    name_parts,
    natural_columns,
    overflow_width,
    source_text,
)
from gradstep_tui.app.widgets.text import (
    Line,
    Part,
    StyleName,
    changed,
    fit,
    is_accumulate,
    right_aligned,
    shape_text,
    without_prefix,
)
from gradstep_tui.errors import AtWork
from gradstep_viz.flow.lane_rows import LaneRow, draw_row

# rows of lanes that are computed ahead per idle tick: about 3 ms of work
LANES_PER_TICK = 3_000


@dataclass(eq=False)
class NodeClicked(Message):
    """A row of the execution list was clicked, ``twice`` for a double click."""

    index: int
    twice: bool


@dataclass(eq=False)
class HeadClicked(Message):
    """The name of a column was clicked, by which the list can be sorted in an order."""

    order: Order


@dataclass(eq=False)
class WidthChanged(Message):
    """The list would use another width than before."""


class ExecutionList(ViewWidget):
    """The plan with its lanes, the pointer, the breakpoints and what is known of each row.

    Folded modules take one row each.  Sorted or filtered, it has no lanes and folds nothing.
    """

    def __init__(self, view: ScreenView) -> None:
        super().__init__(view, id="execution")
        self._stops: dict[int, tuple[tuple[int, ...], frozenset[int]]] = {}
        self._begin(view)

    def _begin(self, view: ScreenView) -> None:
        """Show another plan."""
        snapshot = view.snapshot
        self.lanes = Lanes(view.edges, snapshot.length)
        self.lanes.extend(LANES_PER_TICK)
        self._rows: Rows | ListedRows = Rows(
            snapshot.length, view.modules.folded_spans(view.folded)
        )
        self._cells: dict[int, Cells] = {}
        self._lane_rows: dict[int, LaneRow] = {}
        self._span_rows: dict[int, LaneRow] = {}
        self._natural = natural_columns(snapshot)
        self._fitted: tuple[tuple[int, int, Shown], RowWidths] | None = None

    def on_mount(self) -> None:
        self.update_lines()
        self._look_ahead = self.set_interval(0.03, self._compute_lanes_ahead)
        self.post_message(WidthChanged())

    def on_resize(self) -> None:
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        self.update_lines()  # the line over the columns depends on the width
        self.follow(self.view.node)

    def _compute_lanes_ahead(self) -> None:
        width = self.lanes.width
        start = self.lanes.computed
        self.lanes.extend(start + LANES_PER_TICK)
        if self.lanes.width != width and width < MAX_LANES:
            self.update_lines()  # the line over the columns, too
            self.refresh()
            self.post_message(WidthChanged())
        if self.lanes.complete:
            self._look_ahead.pause()

    def watch_view(self, before: ScreenView, view: ScreenView) -> None:
        """Show what has changed.

        Where the session moved, the row of the current node is followed; the selected row is only
        kept in view.
        """
        old, new = before.snapshot, view.snapshot
        folds = view.folded != before.folded or view.listing != before.listing
        if new.graph is not old.graph:
            self._begin(view)
            self.post_message(WidthChanged())
            self._look_ahead.resume()
        if folds or (view.listing.needs_flow and new is not old):
            self._arrange()
        if folds or new is not old or view.shown != before.shown:
            self._cells = {}
            self.update_lines()
        else:
            self.redraw(self._rows.of(before.node))
            self.redraw(self._rows.of(view.node))
        if new.graph is not old.graph or new.position != old.position:
            self.follow(new.position)
        elif folds:
            self.follow(view.node)
        if view.node != before.node:
            self.reveal(max(0, self._rows.of(view.node)), ahead=self.visible_height // 4)

    def _arrange(self) -> None:
        """Find the nodes of the rows."""
        view, length = self.view, self.view.snapshot.length
        nodes = view.listing.nodes(view.snapshot.graph, view.modules, view.notes.flow, length)
        if nodes is None:
            self._rows = Rows(length, view.modules.folded_spans(view.folded))
            self._span_rows = {}
        else:
            self._rows = ListedRows(nodes)
        self._fitted = None

    def flow_grew(self) -> None:
        """Show the list anew where it depends on what was just looked at."""
        if self.view.listing.needs_flow:
            self._arrange()
        if self.view.listing.needs_flow or self.view.folded:
            self.update_lines()

    @property
    def _is_listed(self) -> bool:
        return isinstance(self._rows, ListedRows)

    # -- places in the list ------------------------------------------------------

    def neighbour(self, rows: int) -> int:
        """Return the plan node so many rows below the selected one."""
        return self.node_at(self._rows.of(self.view.node) + rows)

    def center(self, node: int) -> None:
        """Scroll so that the row of ``node`` stands in the middle."""
        top = self._rows.of(node) - self.visible_height // 2
        self.scroll_to(y=max(0, top), animate=False, immediate=True)

    def end(self, last: bool) -> int:
        """Return the plan node of the first row, or of the ``last``."""
        return self.node_at(self._rows.count if last else 0)

    def node_at(self, row: int) -> int:
        """Return the plan node of a row, or of the nearest one that there is."""
        if not self._rows.count:
            return self.view.node
        return self._rows.at(max(0, min(self._rows.count - 1, row)))[0]

    def follow(self, node: int) -> None:
        """Keep the row of ``node`` in the middle third of the view.

        Where it leaves that, it goes to the other end of it, so that few steps scroll: to scroll
        is to paint every line.
        """
        row = self._rows.of(node)
        if row < 0:
            return
        top, height = self.scroll_offset.y, self.visible_height
        first, last = height // 3, height - 1 - height // 3
        bottom = max(0, self.line_count() - height)
        if row < top + first:
            self.scroll_to(y=min(bottom, max(0, row - last)), animate=False, immediate=True)
        elif row > top + last:
            self.scroll_to(y=min(bottom, max(0, row - first)), animate=False, immediate=True)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset_capture(self)
        row = self.line_at(offset.y)
        if row is not None and row < self._rows.count:
            self.post_message(NodeClicked(self._rows.at(row)[0], event.chain > 1))
        elif row is None and offset.y == len(self._fixed) - 1:
            ends = accumulate(len(heading.text) + 1 for heading in self._headings())
            for heading, end in zip(self._headings(), ends, strict=True):
                if offset.x < end:
                    self.post_message(HeadClicked(heading.order))
                    break

    # -- lines ---------------------------------------------------------------

    def fixed_lines(self) -> list[Line]:
        if not self.text_width:
            return []
        line = [Part(" ".join(heading.text for heading in self._headings()), "muted")]
        return [*([self._listing_line()] if self._is_listed else []), line]

    def _headings(self) -> list[Heading]:
        return headings(self._columns(), self._lanes_used, self.view.listing.order)

    @property
    def natural_width(self) -> int:
        """The cells that would show every column in full, with the scrollbar, but no extremes."""
        lanes = min(self._lanes_used, MAX_LANES)
        overflow = overflow_width(self._lanes_used, lanes, self._natural.number)
        natural = self._natural._replace(lanes=lanes, gradient=VALUE_WIDTH)
        return natural.total + overflow + 1

    def _listing_line(self) -> Line:
        """Say which nodes are shown, of how many that is known, and how to see all again."""
        view, listing = self.view, self.view.listing
        looked, ran = view.notes.flow.looked, view.snapshot.position
        known = f" · {looked:,} of {ran:,} looked at" if looked < ran else ""
        count = f"{self._rows.count:,} of {view.snapshot.length:,}"
        text = f" all › {listing.text} · {count}{known if listing.needs_flow else ''}"
        return [Part(text, "strong"), Part("  esc: all, as they run", "muted")]

    @property
    def _lanes_used(self) -> int:
        return 1 if self._is_listed else self.lanes.width

    def line_count(self) -> int:
        return self._rows.count + (not self._is_listed)

    def is_selected(self, y: int) -> bool:
        return y < self._rows.count and y == self._rows.of(self.view.node)

    def line(self, y: int) -> Line:
        if y >= self._rows.count:
            return self._end_line()
        columns = self._columns()
        node, span = self._rows.at(y)
        if span is not None:
            return self._span_line(y, span, columns)
        return self._node_line(y, node, columns)

    def _columns(self) -> RowWidths:
        room = (self._lanes_used, self.text_width, self.view.shown)
        if self._fitted is None or self._fitted[0] != room:
            self._fitted = room, fit_columns(self._natural, *room)
        return self._fitted[1]

    def _node_line(self, y: int, node: int, columns: RowWidths) -> Line:
        graph = self.view.snapshot.graph
        accumulate = is_accumulate(graph.names[node])
        done = node < self.view.snapshot.position
        colour: StyleName = "leaf" if accumulate else "backward"
        if accumulate:
            glyph = "■" if done else "□"
        else:
            glyph = "●" if done else "◉" if node == self.view.snapshot.position else "○"
        cells, is_new = self._cells_of(node), node in self.view.changed
        line = self._gutter(y, node, node + 1)
        if self._is_listed:
            line.append(Part(f"{glyph} ", colour))
        else:
            line += self._lane_parts(self._lane_row(node), columns, glyph, colour)
        line.append(Part(fit(step_number(node), columns.number, right=True) + " ", "muted"))
        line += name_parts(graph, node, columns, done)
        if columns.shape:
            shape = shape_text(graph.shapes[node])
            if len(shape) > columns.shape:
                shape = shape.replace(" ", "")
            line.append(Part(fit(shape, columns.shape) + " ", "muted"))
        if columns.value:
            bad = cells.forward.startswith(("nan", "inf"))
            style: StyleName = "trouble" if bad else "text" if columns.gradient else "strong"
            line.append(Part(fit(cells.forward, columns.value, right=True) + " ", style))
        if columns.gradient:
            value_style = changed(Part("", "trouble" if cells.trouble else "text"), is_new).style
            is_wide = columns.gradient > VALUE_WIDTH
            value = cells.wide or cells.value if is_wide else cells.value
            if is_new and not value:  # it was taken back
                value = "not yet"
            line += [*right_aligned(value, VALUE_WIDTH, value_style), Part(" ")]
            if is_wide:
                line.append(Part(fit(cells.extremes, EXTREMES_WIDTH), "muted"))
        mark = cells.trouble + " " if cells.trouble else ""
        line.append(Part(mark, "trouble"))
        flags = changed(Part(cells.flags, colour), is_new and columns.gradient > 0)
        if self.view.listing.order == "jump":
            flags = Part(self._factor(node), "strong")
        shown = fit(flags.text, FLAG_WIDTH - len(mark))
        text = shown.rstrip(" ")  # blanks are not underlined
        line += [Part(text, flags.style), Part(" " * (len(shown) - len(text)))]
        if columns.source:
            source = source_text(graph, node, line_only=columns.line > 0)
            source = fit(source, columns.source - 1, right=True, keep_end=True)
            line.append(Part(" " + source, "muted"))
        return line

    def _factor(self, node: int) -> str:
        """Return how much larger is what the node sent on than what it received."""
        flow = self.view.notes.flow.known(node)
        return "" if flow is None or flow.factor is None else f"×{format_number(flow.factor)}"

    def _span_line(self, y: int, span: Span, columns: RowWidths) -> Line:
        """Return a folded module or loop: its name, how many nodes it has, how many of them have
        run, and between which sizes their gradients are."""
        graph, flow = self.view.snapshot.graph, self.view.notes.flow
        nodes, done = span.stop - span.start, self.view.snapshot.position - span.start
        line = self._gutter(y, span.start, span.stop)
        if span.start not in self._span_rows:
            self._span_rows[span.start] = self.lanes.stretch(span.start, span.stop)
        line += self._lane_parts(self._span_rows[span.start], columns, "▸", "strong")
        line.append(Part(fit(step_number(span.start), columns.number, right=True) + " ", "muted"))
        name = f"× {span.rounds:,} rounds" if span.rounds else span.scope
        kind = "" if span.rounds else graph.modules.get(span.scope, "")
        ran = f"{done:,} of " if 0 < done < nodes else ""
        about = f"{kind}  {ran}{plural(nodes, 'node')}".strip()
        name = printable(without_prefix(name, columns.prefix))
        before = (columns.name, columns.scope, columns.shape, columns.value)
        room = sum(cells + 1 for cells in before if cells)
        about = f"  {printable(about)}".ljust(room - len(name)) + " "
        line += [Part(name, "strong"), Part(about, "muted")]
        if columns.gradient and span.start < flow.looked:
            extent = flow.extent(span.start, span.stop)
            text = "" if extent.least > extent.largest else format_number(extent.least)
            if extent.largest > extent.least:
                text += f" to {format_number(extent.largest)}"
            if extent.trouble:
                line.append(Part("nan or inf ", "trouble"))
            else:
                line.append(Part(fit(text, VALUE_WIDTH + FLAG_WIDTH)))
        return line

    def _end_line(self) -> Line:
        here = self.view.snapshot.position >= self.view.snapshot.length
        pointer = Part("  ▶ " if here else "    ", "strong")
        return [pointer, Part("end of the backward pass", "strong" if here else "muted")]

    def _gutter(self, y: int, start: int, stop: int) -> Line:
        """Selection, breakpoint, and whether the nodes of the row have run."""
        points = [
            point
            for point in self.view.snapshot.breakpoints
            if point.indices
            and (
                start in self._places_of(point)
                if stop == start + 1
                else any(start <= index < stop for index in point.indices)
            )
        ]
        stop_mark = " " if not points else "●" if any(point.enabled for point in points) else "◌"
        if any(point.enabled and point.condition for point in points):
            stop_mark = "◆"
        position = self.view.snapshot.position
        mark = Part("✓ " if stop <= position else "  ", "muted")
        if start <= position < stop:
            mark = Part("▶ ", "strong")
        selected = Part("▌" if self.is_selected(y) else " ", "strong")
        return [selected, Part(stop_mark, "strong"), mark]

    def _places_of(self, point: Breakpoint) -> frozenset[int]:
        known = self._stops.get(point.number)
        if known is None or known[0] is not point.indices:
            known = self._stops[point.number] = (point.indices, frozenset(point.indices))
        return known[1]

    def _lane_parts(self, row: LaneRow, columns: RowWidths, glyph: str, colour: StyleName) -> Line:
        names, lanes = self.view.snapshot.graph.names, columns.lanes
        parts: Line = []
        for cell in draw_row(row, lanes, glyph):
            style: StyleName = "faint"
            if cell.owner == row.node:
                style = colour
            elif cell.owner is not None:
                style = "leaf" if is_accumulate(names[cell.owner]) else "backward"
            parts.append(Part(cell.text, style))
        drawn = sum(len(part.text) for part in parts)
        overflow = overflow_width(self.lanes.width, lanes, columns.number)
        return [*parts, Part(" " * (2 * lanes + overflow - drawn))]

    def _lane_row(self, node: int) -> LaneRow:
        if node not in self._lane_rows:
            if len(self._lane_rows) > 4096:
                self._lane_rows.clear()
            start = node - node % 64
            for row in self.lanes.rows(start, start + 64):
                self._lane_rows.setdefault(row.node, row)
        return self._lane_rows[node]

    def _cells_of(self, node: int) -> Cells:
        cells = self._cells.get(node)
        if cells is None:
            try:
                detail = self.view.facts.detail(node)
            except AtWork:  # it is asked again afterwards
                return Cells("", "", "")
            cells = describe(detail, self.view.snapshot, node)
            if self.view.shown != "gradient":
                cells = cells._replace(forward=forward_text(self.view.facts.forward_value(node)))
            self._cells[node] = cells
        return cells
