"""The command line, and the line that says what the last command answered."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from gradstep.debugger.snapshot import Reply
from gradstep_tui.app.history import History
from gradstep_tui.app.sections.console import headline
from gradstep_tui.app.widgets.line_view import LineView
from gradstep_tui.app.widgets.text import Line, Part, fit


class MessageLine(LineView):
    """One line: what the last command answered, or the count that is being typed.

    A remark takes its place until the next key.
    """

    def __init__(self) -> None:
        super().__init__()
        self._reply = Reply("")
        self._remark: Reply | None = None
        self._count = ""

    def show(self, reply: Reply) -> None:
        """Show an answer, until the next one."""
        self._reply, self._remark, self._count = reply, None, ""
        self.update_lines()

    def remark(self, remark: Reply) -> None:
        """Show something until the next key."""
        self._remark, self._count = remark, ""
        self.update_lines()

    def drop_remark(self) -> None:
        """A key was pressed: what was remarked about the one before is over."""
        if self._remark is not None:
            self._remark = None
            self.update_lines()

    def show_count(self, digits: str) -> None:
        """Show the count that the next key will use."""
        self._count = digits
        self.update_lines()

    def line_count(self) -> int:
        return 1

    def line(self, y: int) -> Line:
        if self._count:
            number = self._count[1:] or "a number"
            keys = f"  {number} times: n N s j k PgDn;  to {self._count}: u G;  that one: h l"
            return [Part(f" {self._count}", "strong"), Part(keys, "muted")]
        reply = self._remark or self._reply
        lines = reply.text.splitlines()
        more = f" (+{len(lines) - 1} lines in the console)" if len(lines) > 1 else ""
        room = self.text_width - len(more) - 1
        return [
            Part(" " + fit(headline(reply), room).rstrip(), "trouble" if reply.error else "text"),
            Part(more, "muted"),
        ]


class Prompt(Input):
    """The command line; up and down recall what was typed before, ctrl+r looks for it.

    It decides nothing: who shows it hands it the keys, and takes the line.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        # of what was typed before the screen opened, the terminal made enter a line feed
        Binding("enter,ctrl+j", "screen.enter_line", "carry out", show=False),
        Binding("escape,ctrl+c", "screen.close_prompt", "close", show=False),
        Binding("up", "recall(-1)", "previous command", show=False),
        Binding("down", "recall(1)", "next command", show=False),
        Binding("ctrl+r", "find_back", "search in the history", show=False),
        Binding("tab", "screen.complete", "complete", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(select_on_focus=False)
        self.search = False
        self._history = History()
        self._place = 0
        self._found: tuple[str, str] | None = None  # what ctrl+r looked for, and what it found

    def open(self, text: str = "", *, search: bool = False) -> None:
        """Ask for a command that begins with ``text``, or for a word to look for."""
        self.search = search
        self.placeholder = (
            "op, module, leaf or file; an empty line looks for the last one again"
            if search
            else "command, or help; an empty line repeats the last one"
        )
        self.value = text
        self._place = len(self._history.lines(search=search))
        self._found = None
        self.cursor_position = len(text)

    def insert_text(self, text: str) -> None:
        """Put ``text`` where the cursor is, in place of what is selected."""
        self.replace(text, *sorted(self.selection))

    def take_line(self) -> str:
        """Take what was typed, which goes to the history."""
        line = self.value.strip()
        if line:
            self._history.add(line, search=self.search)
        return line

    def action_recall(self, step: int) -> None:
        self._recall(self._place + step)

    def action_find_back(self) -> None:
        """Recall the last line that has what was typed; again, the one before that."""
        if self._found is None or self._found[1] != self.value:
            self._found = self.value, ""
            self._place = len(self._history.lines(search=self.search))
        text = self._found[0]
        place = self._history.before(self._place, text, search=self.search)
        if place is None:
            self.app.bell()
            return
        self._recall(place)
        self._found = text, self.value

    def _recall(self, place: int) -> None:
        history = self._history.lines(search=self.search)
        self._place = max(0, min(len(history), place))
        self.value = "".join(history[self._place : self._place + 1])
        self.cursor_position = len(self.value)

    def take(self, words: Sequence[str]) -> None:
        """Put what all of ``words`` have in common for the word before the cursor."""
        if not words:
            return
        before, after = self.value[: self.cursor_position], self.value[self.cursor_position :]
        start = before.rfind(" ") + 1
        word = common_beginning(words) + (" " if len(words) == 1 else "")
        self.value = before[:start] + word + after.lstrip()
        self.cursor_position = start + len(word)


def common_beginning(words: Sequence[str]) -> str:
    """Find what all of ``words`` begin with.

    >>> common_beginning(["mul:1", "mul:2"]), common_beginning(["tanh"])
    ('mul:', 'tanh')
    """
    shared = takewhile(lambda letters: len(set(letters)) == 1, zip(*words, strict=False))
    return "".join(letters[0] for letters in shared)
