"""The base of every pane: lines that are formatted when they become visible."""

from __future__ import annotations

from typing import ClassVar, get_args

from rich.segment import Segment
from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tui.app.widgets.text import Line, StyleName


class LineView(ScrollView, can_focus=False):
    """A scrolling list of lines; a subclass says how many there are and what line y shows.

    Only visible lines are ever formatted, so that a million of them open at once.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"line--{name}" for name in get_args(StyleName)),
        "line--selected",
    }

    def line_count(self) -> int:
        raise NotImplementedError

    def line(self, y: int) -> Line:
        raise NotImplementedError

    def is_selected(self, y: int) -> bool:
        """Whether line ``y`` is drawn on the selection's background."""
        return False

    @property
    def text_width(self) -> int:
        """The cells that a line may use."""
        return self.scrollable_content_region.width

    @property
    def visible_height(self) -> int:
        return self.scrollable_content_region.height

    def update_lines(self) -> None:
        """Draw again; the number of lines may have changed."""
        # width 0: lines are cut to the pane and never scroll sideways
        size = Size(0, self.line_count())
        if size != self.virtual_size:
            self.virtual_size = size
        self.refresh()

    def render_line(self, y: int) -> Strip:
        number = y + self.scroll_offset.y
        width = self.size.width
        if not 0 <= number < self.line_count():
            return Strip.blank(width, self.rich_style)
        background = self._style("line--selected") if self.is_selected(number) else None
        segments = []
        for part in self.line(number):
            style = self.get_component_rich_style(f"line--{part.style}")
            segments.append(Segment(part.text, style + background if background else style))
        fill = self.rich_style + background if background else self.rich_style
        return Strip(segments).crop_extend(0, width, fill)

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(name, partial=True)
