"""The message in a terminal that is too small for the debugger."""

from __future__ import annotations

from gradstep_tui.app.arrangement import NEEDED_HEIGHT, NEEDED_WIDTH
from gradstep_tui.app.widgets.line_view import LineView
from gradstep_tui.app.widgets.text import Line, Part


class TooSmall(LineView):
    """The size that is needed, the size that is there, and the way out."""

    def __init__(self) -> None:
        super().__init__(id="too-small")

    def line_count(self) -> int:
        return 3

    def line(self, y: int) -> Line:
        width, height = self.app.size
        return [
            [Part(f"gradstep needs {NEEDED_WIDTH}x{NEEDED_HEIGHT}", "strong")],
            [Part(f"this terminal: {width}x{height}")],
            [Part("enlarge it, or q: continue", "muted")],
        ][y]
