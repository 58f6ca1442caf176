"""The bottom line: the keys that matter here, or what may be typed next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from textual import events

from autograd_core.text import printable
from tui.app.messages import HintClicked
from tui.app.widgets.line_view import LineView
from tui.app.widgets.text import Line, Part


class Hint(NamedTuple):
    """A key, what it does in a word, and the action behind it."""

    key: str
    word: str
    action: str


class Hints(LineView):
    """Keys to press, which can be clicked as well."""

    def __init__(self) -> None:
        super().__init__(id="hints")
        self._hints: Sequence[Hint] = ()
        self._offers: Sequence[str] = ()

    def show(self, hints: Sequence[Hint]) -> None:
        """Show keys."""
        self._hints, self._offers = hints, ()
        self.update_lines()

    def offer(self, words: Sequence[str]) -> None:
        """Show the words that may be typed here."""
        self._offers = words
        self.update_lines()

    def line_count(self) -> int:
        return 1

    def line(self, y: int) -> Line:
        if self._offers:
            return [Part(" " + "  ".join(map(printable, self._offers)), "muted")]
        line: Line = [Part(" ")]
        for hint in self._fitting():
            line += [Part(hint.key, "strong"), Part(f" {hint.word}  ", "muted")]
        return line

    def _fitting(self) -> list[Hint]:
        """The first hints, as many as there is room for."""
        ends = accumulate(len(hint.key) + len(hint.word) + 3 for hint in self._hints)
        return [
            hint for hint, end in zip(self._hints, ends, strict=True) if end <= self.text_width + 1
        ]

    def on_click(self, event: events.Click) -> None:
        left, x = 1, event.get_content_offset_capture(self).x
        for hint in () if self._offers else self._fitting():
            right = left + len(hint.key) + len(hint.word) + 3
            if left <= x < right:
                self.post_message(HintClicked(hint.action))
                return
            left = right
