"""The leaf pane: the ``.grad`` of every leaf, before this backward pass and now."""

from __future__ import annotations

from textual.strip import Strip

from autograd_core.dag.statistics import format_shape
from autograd_core.debug.snapshot import LeafGradient, Snapshot, Value
from tui.app.widgets.line_view import LineView
from tui.app.widgets.text import Line, Part, StyleName, fit, value_part

VALUE_WIDTH = 12
BAR_WIDTH = 6


class LeavesPane(LineView):
    """One line per leaf under a line of headings."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._leaves: tuple[LeafGradient, ...] = ()
        self._selected = -1
        self._name_width = 4
        self._shape_width = 5

    def show(self, snapshot: Snapshot, index: int) -> None:
        """Show the leaves of ``snapshot``; the one of plan node ``index`` is marked."""
        self._leaves = snapshot.leaves
        self._selected = index
        names = (len(leaf.name) for leaf in self._leaves)
        self._name_width = max(8, min(24, max(names, default=0)))
        shapes = (len(format_shape(leaf.shape)) for leaf in self._leaves)
        self._shape_width = min(16, max(shapes, default=0))
        self.update_lines()
        self._keep_next_visible(snapshot.position)

    def _keep_next_visible(self, position: int) -> None:
        """Scroll so that the leaves that change around now are in view."""
        done = sum(leaf.index < position for leaf in self._leaves)
        self.scroll_to(y=max(0, done - self.visible_height // 2), animate=False, immediate=True)

    def line_count(self) -> int:
        return len(self._leaves) + 1

    def is_selected(self, y: int) -> bool:
        return 0 < y <= len(self._leaves) and self._leaves[y - 1].index == self._selected

    def render_line(self, y: int) -> Strip:
        """The headings stay where they are when the leaves scroll under them."""
        return super().render_line(y) if y else self.strip(self._heading(), selected=False)

    def line(self, y: int) -> Line:
        return self._heading() if y == 0 else self._leaf_line(self._leaves[y - 1])

    def _heading(self) -> Line:
        count = len(self._leaves)
        title = f" {count} {'leaf' if count == 1 else 'leaves'}"
        parts = [
            fit(title, self._name_width + self._shape_width + 4),
            fit(".grad before", VALUE_WIDTH, right=True),
            fit("now", VALUE_WIDTH + 3, right=True),
            "  contributions",
        ]
        return [Part("".join(parts), "muted")]

    def _leaf_line(self, leaf: LeafGradient) -> Line:
        done = leaf.arrived >= leaf.expected
        line: Line = [
            Part("▌" if leaf.index == self._selected else " ", "strong"),
            Part(fit(leaf.name, self._name_width) + " ", "leaf"),
            Part(fit(format_shape(leaf.shape), self._shape_width) + "  ", "muted"),
            _value(leaf.before, "None", VALUE_WIDTH),
            Part(" → ", "muted"),
            _value(leaf.now, "None" if done else "None yet", VALUE_WIDTH),
            Part("  " + arrival_bar(leaf.arrived, leaf.expected), "leaf"),
            Part(f" {leaf.arrived}/{leaf.expected}", "text" if done else "muted"),
        ]
        if leaf.pending is not None:
            line += [Part("  pending ", "muted"), value_part(leaf.pending)]
        return line


def arrival_bar(arrived: int, expected: int) -> str:
    """One box per contribution, or a bar of fixed width when there are many.

    >>> arrival_bar(1, 3), arrival_bar(50, 100)
    ('■□□', '■■■□□□')
    """
    boxes = min(expected, BAR_WIDTH)
    filled = arrived * boxes // expected if expected else 0
    return "■" * filled + "□" * (boxes - filled)


def _value(value: Value | None, absent: str, width: int) -> Part:
    if value is None:
        return Part(fit(absent, width, right=True), "muted")
    part = value_part(value)
    style: StyleName = part.style
    return Part(fit(part.text, width, right=True), style)
