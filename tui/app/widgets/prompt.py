"""The bottom line: the last reply, the count being typed, or the command prompt."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from autograd_core.debug.snapshot import Reply
from tui.app.messages import CommandEntered, PromptClosed
from tui.app.widgets.line_view import LineView
from tui.app.widgets.log import error_text
from tui.app.widgets.text import Line, Part, fit


class MessageLine(LineView):
    """One line: what the last command answered."""

    def __init__(self) -> None:
        super().__init__()
        self._reply = Reply("")
        self._count = ""

    def show(self, reply: Reply) -> None:
        self._reply, self._count = reply, ""
        self.update_lines()

    def show_count(self, digits: str) -> None:
        """Show the count that the next key will use."""
        self._count = digits
        self.update_lines()

    def line_count(self) -> int:
        return 1

    def line(self, y: int) -> Line:
        if self._count:
            return [Part(f" {self._count}", "strong"), Part(" times: n N u or tab", "muted")]
        lines = error_text(self._reply).splitlines() or [""]
        more = f" (+{len(lines) - 1} lines in the console)" if len(lines) > 1 else ""
        room = self.text_width - len(more) - 1
        return [
            Part(" " + fit(lines[0], room).rstrip(), "trouble" if self._reply.error else "text"),
            Part(more, "muted"),
        ]


class Prompt(Input):
    """The command line; up and down recall what was typed before, escape closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "close", show=False),
        Binding("up", "recall(-1)", "previous command", show=False),
        Binding("down", "recall(1)", "next command", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(placeholder="command, or help; an empty line repeats the last one")
        self.display = False
        self._history: list[str] = []
        self._place = 0

    def open(self) -> None:
        self.value = ""
        self._place = len(self._history)
        self.display = True
        self.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        line = event.value.strip()
        if line:
            self._history.append(line)
        self.display = False
        self.post_message(CommandEntered(line))

    def action_leave(self) -> None:
        self.display = False
        self.post_message(PromptClosed())

    def action_recall(self, step: int) -> None:
        self._place = max(0, min(len(self._history), self._place + step))
        recalled = self._history[self._place : self._place + 1]
        self.value = recalled[0] if recalled else ""
        self.cursor_position = len(self.value)
