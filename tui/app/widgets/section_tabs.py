"""The line that names the sections of the detail when only one of them fits."""

from __future__ import annotations

from tui.app.widgets.line_view import LineView
from tui.app.widgets.text import Line, Part

SECTIONS = ("gradient", "rule", "leaves", "console")


class SectionTabs(LineView):
    """``[gradient] rule leaves console``, the active one in brackets."""

    def __init__(self) -> None:
        super().__init__(id="tabs")
        self._active = 0

    def show(self, active: int) -> None:
        self._active = active
        self.update_lines()

    def line_count(self) -> int:
        return 1

    def line(self, y: int) -> Line:
        line: Line = [Part("──", "faint")]
        for number, name in enumerate(SECTIONS):
            active = number == self._active
            line.append(
                Part(f"[{name}]" if active else f" {name} ", "strong" if active else "muted")
            )
        used = sum(len(part.text) for part in line)
        hint = " tab "
        line.append(Part("─" * max(0, self.text_width - used - len(hint) - 2), "faint"))
        return [*line, Part(hint, "muted"), Part("──", "faint")]
