"""The console pane: commands, their replies, and what the script printed meanwhile."""

from __future__ import annotations

from textual import events

from autograd_core.debug.snapshot import Reply
from tui.app.widgets.line_view import LineView
from tui.app.widgets.text import Line, Part, StyleName, plain

KEPT_LINES = 5_000


class LogPane(LineView):
    """The last lines of the console."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._lines: list[Line] = []

    def add_command(self, line: str, reply: Reply) -> None:
        """Write down a command and its answer; an error carries the word besides the colour."""
        self._add([Part("> ", "muted"), Part(plain(line), "strong")])
        style: StyleName = "trouble" if reply.error else "text"
        for text in error_text(reply).splitlines():
            self._add([Part("  " + plain(text), style)])
        self._show_end()

    def on_print(self, event: events.Print) -> None:
        """The script (a hook, most likely) printed something."""
        for text in event.text.splitlines():
            if text.strip():
                self._add([Part("script: ", "muted"), Part(plain(text))])
        self._show_end()

    def _add(self, line: Line) -> None:
        self._lines.append(line)
        del self._lines[:-KEPT_LINES]

    def _show_end(self) -> None:
        self.update_lines()
        self.call_after_refresh(self.scroll_end, animate=False)

    def line_count(self) -> int:
        return max(1, len(self._lines))

    def line(self, y: int) -> Line:
        if not self._lines:
            return [Part("press : and type a command, or help", "muted")]
        return self._lines[y]


def error_text(reply: Reply) -> str:
    """The text of a reply; an error begins with the word."""
    if reply.error and not reply.text.lower().startswith("error"):
        return f"error: {reply.text}"
    return reply.text
