"""The base of every pane: lines that are formatted when they become visible."""

from __future__ import annotations

from itertools import groupby
from typing import ClassVar, cast

from rich.color import Color as RichColor
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from gradstep_tui.app.sections.page import ScreenView
from gradstep_tui.app.widgets.text import ELLIPSIS, Line, StyleName, in_ascii

KEPT_LINES = 1_000
# The colour of each style, among those of the theme, and whether it is bold; what has changed is
# underlined as well, which terminals without colours show, too.  A meaning has its
# colour in the pictures, and never stands without a mark or a word.  Rules in app.tcss would be
# matched for each style of each pane whenever the screen changes: a quarter of the time to open.
STYLES: dict[StyleName, tuple[str, bool]] = {
    "text": ("foreground", False),
    "strong": ("foreground", True),
    "title": ("foreground", True),
    "muted": ("muted", False),
    "faint": ("faint", False),
    "backward": ("backward", True),
    "leaf": ("leaf", False),
    "saved": ("saved", True),
    "trouble": ("trouble", True),
    "changed": ("foreground", True),
    "changed trouble": ("trouble", True),
}


class LineView(ScrollView, can_focus=False):
    """A scrolling list of lines; a subclass says how many there are and what line y shows.

    Only visible lines are ever formatted, so that a million of them open at once.  The lines of
    ``fixed_lines`` stand above the others and do not scroll.
    """

    plain: ClassVar[bool] = False  # whether marks are to be ASCII

    def line_count(self) -> int:
        raise NotImplementedError

    def line(self, y: int) -> Line:
        raise NotImplementedError

    def fixed_lines(self) -> list[Line]:
        """Return the lines at the top, whatever is scrolled."""
        return []

    def is_selected(self, y: int) -> bool:
        """Return whether line ``y`` is drawn on the selection's background."""
        return False

    @property
    def text_width(self) -> int:
        """The cells that a line may use."""
        return self._text_width

    def _measure(self) -> None:
        # once for many lines, for it takes as long as a line
        self._text_width = self.scrollable_content_region.width

    @property
    def visible_height(self) -> int:
        """The number of scrolling lines in view."""
        return max(0, self.size.height - len(self._fixed))

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._drawn: dict[int, tuple[Line, bool]] = {}
        self._fixed: list[Line] = []
        self._text_width = 0
        self._styles_of: dict[tuple[StyleName, bool], Style] = {}

    def notify_style_update(self) -> None:
        self._styles_of = {}
        super().notify_style_update()

    def update_lines(self) -> None:
        """Draw what has changed; the number of lines may have changed too."""
        self._measure()
        self._update_fixed()
        fixed = self._fixed
        # width 0: lines are cut to the pane and never scroll sideways
        size = Size(0, self.line_count() + len(fixed))
        if size != self.virtual_size:
            # by assignment the whole screen would be laid out anew, several ms per step
            self.set_reactive(LineView.virtual_size, size)
            self._scroll_update(size)
            self.refresh()
            return
        # painting a line costs more than formatting it, and a step changes few of them
        top = self.scroll_offset.y
        for y in range(top, min(top + self.visible_height, self.line_count())):
            if self._drawn.get(y) != (self.line(y), self.is_selected(y)):
                self.redraw(y)

    def _update_fixed(self) -> None:
        fixed = self.fixed_lines()
        if fixed != self._fixed:
            self._fixed = fixed
            self.refresh(Region(0, 0, self.size.width, len(fixed)))

    def redraw(self, y: int) -> None:
        """Draw line ``y`` anew."""
        self.refresh_line(y + len(self._fixed))

    def line_at(self, y: int) -> int | None:
        """Return the line that is drawn ``y`` cells below the upper edge, None on a fixed one."""
        number = y - len(self._fixed) + self.scroll_offset.y
        return number if y >= len(self._fixed) and number < self.line_count() else None

    def reveal(self, y: int, ahead: int = 0) -> None:
        """Scroll only as far as needed to see line ``y``, and then ``ahead`` lines further: to
        scroll is to paint every line."""
        top, height = self.scroll_offset.y, self.visible_height
        if y < top:
            self.scroll_to(y=max(0, y - ahead), animate=False, immediate=True)
        elif y >= top + height:
            self.scroll_to(y=y - height + 1 + ahead, animate=False, immediate=True)

    def render_lines(self, crop: Region) -> list[Strip]:
        before = self._text_width
        self._measure()
        if self._text_width != before:  # a scrollbar has come or gone
            self._update_fixed()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        if y < len(self._fixed):
            return self.strip(self._fixed[y], False, whole=False)
        number = y - len(self._fixed) + self.scroll_offset.y
        width = self.size.width
        if not 0 <= number < self.line_count():
            return Strip.blank(width, self._style("text", False))
        if len(self._drawn) > KEPT_LINES:
            self._drawn.clear()
        line, selected = self._drawn[number] = self.line(number), self.is_selected(number)
        return self.strip(line, selected)

    def strip(self, line: Line, selected: bool, *, whole: bool = True) -> Strip:
        """Return ``line`` as it is drawn, in the pane's width; an ellipsis says that it was cut, if
        it was to be seen as a whole."""
        width = self.size.width
        segments = []
        for style, parts in groupby(line, key=lambda part: part.style):
            text = "".join(part.text for part in parts)
            if self.plain:
                text = in_ascii(text)
            segments.append(Segment(text, self._style(style, selected)))
        drawn = Strip(segments)
        room = self.text_width  # without the scrollbar
        if whole and drawn.cell_length > room:
            cut = Segment(
                in_ascii(ELLIPSIS) if self.plain else ELLIPSIS, self._style("muted", selected)
            )
            drawn = Strip([*drawn.crop(0, room - 1), cut])
        return drawn.crop_extend(0, width, self._style("text", selected))

    def _style(self, name: StyleName, selected: bool) -> Style:
        style = self._styles_of.get((name, selected))
        if style is None:
            colour, bold = STYLES[name]
            ground = self._colour("selection") if selected else None
            line = name in ("changed", "changed trouble") or None
            style = Style(
                color=self._colour(colour), bgcolor=ground, bold=bold or None, underline=line
            )
            style = self._styles_of[name, selected] = self.rich_style + style
        return style

    def _colour(self, name: str) -> RichColor:
        return Color.parse(self.app.theme_variables[name]).rich_color


class ViewWidget(LineView):
    """Lines that show the view of the screen, to which ``view`` is bound."""

    view: reactive[ScreenView] = reactive(cast(ScreenView, None), repaint=False, init=False)

    def __init__(self, view: ScreenView, id: str | None = None) -> None:
        super().__init__(id=id)
        self.set_reactive(ViewWidget.view, view)


class LinesView(LineView):
    """A pane over lines that are ready; showing the same ones again costs nothing."""

    def __init__(self, id: str | None = None) -> None:
        super().__init__(id=id)
        self._lines: list[Line] = []

    def show_lines(self, lines: list[Line]) -> None:
        """Show ``lines`` from the first one on."""
        if lines != self._lines:
            self._lines = lines
            self.scroll_to(y=0, animate=False, immediate=True)
            self.update_lines()

    def line_count(self) -> int:
        return len(self._lines)

    def line(self, y: int) -> Line:
        return self._lines[y]
