"""The bottom line: the keys that matter most here, or what may be typed next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from textual import events
from textual.message import Message

from gradstep.debugger.snapshot import Snapshot
from gradstep.text import printable
from gradstep_tui.app.widgets.line_view import LineView
from gradstep_tui.app.widgets.text import Line, Part


class Hint(NamedTuple):
    """A key, what it does in a word, and the action behind it."""

    key: str
    word: str
    action: str


_NEXT = Hint("n", "next", "step('next')")
_BACK = Hint("N", "back", "step('reverse-next')")
_INSIDE = Hint("s", "inside", "step('step')")
_GO = Hint("c", "continue", "step('continue')")
_BREAK = Hint("b", "break", "toggle_breakpoint")
_COMMAND = Hint(":", "command", "prompt('')")
_HELP = Hint("?", "help", "help")
_QUIT = Hint("q", "go on", "leave('continue')")
_LIST = Hint("esc", "list", "escape")
_FIND = Hint("/", "find", "search")
_PALETTE = Hint("ctrl+p", "commands", "app.command_palette")
_SORT = Hint("a", "sort", "order")
_VALUES = Hint("v", "forward values", "shown")
_SECTION = Hint("tab", "section", "section(1)")
_OUT = Hint("<", "leave this pass", "command('leave')")

# the most important ones first: in a narrow terminal there is room for eight
_USUAL = (
    _NEXT, _BACK, _GO, _SORT, _PALETTE, _HELP, _QUIT, _FIND, _INSIDE, _COMMAND, _VALUES, _BREAK,
    _SECTION,
)  # fmt: skip
_BUSY = (Hint("esc", "pause", "escape"), Hint("j k", "navigate", "select(1)"))
_OVER = (
    Hint("q", "continue the script", "leave('continue')"),
    _BACK,
    Hint("C", "back to stop", "step('reverse-continue')"),
    _SORT,
    Hint("r", "restart", "command('restart')"),
    _FIND,
    _COMMAND,
    _HELP,
)
_IN_NODE = (
    Hint("s", "next phase", "step('step')"),
    Hint("S", "phase back", "step('reverse-step')"),
    Hint("n", "rest of the node", "step('next')"),
    _COMMAND,
    _HELP,
    _QUIT,
)
_IN_BREAKPOINTS = (
    Hint("space", "on/off", "toggle_point"),
    Hint("Del", "delete", "delete_point"),
    Hint("enter", "select its node", "until"),
    Hint("j k", "move", "select(1)"),
    _LIST,
)
_IN_MODULES = (
    Hint("enter", "select", "until"),
    Hint("z", "fold", "fold"),
    Hint("Z", "fold all", "fold_all"),
    Hint("j k", "move", "select(1)"),
    _LIST,
)
_IN_FLOW = (
    Hint("h l", "along the pass", "edge(1)"),
    _SECTION,
    Hint("w", "next pane", "next_pane"),
    _LIST,
)
_IN_PANE = (
    Hint("enter", "select", "until"),
    Hint("j k", "move", "select(1)"),
    _SECTION,
    Hint("w", "next pane", "next_pane"),
    _LIST,
)


_IN_SECTIONS = {"breakpoints": _IN_BREAKPOINTS, "modules": _IN_MODULES, "flow": _IN_FLOW}


def hints_for(snapshot: Snapshot, section: str, *, busy: bool) -> tuple[Hint, ...]:
    """Return the keys to show; ``section`` is that of the pane to which the keys go, "" for the
    list."""
    if busy:
        return _BUSY
    if section:
        return _IN_SECTIONS.get(section, _IN_PANE)
    hints: tuple[Hint, ...] = _USUAL
    if snapshot.phase:
        hints = _IN_NODE
    elif snapshot.position >= snapshot.length:
        hints = _OVER
    return (_OUT, *hints) if len(snapshot.frames) > 1 else hints


@dataclass(eq=False)
class HintClicked(Message):
    """A key in the bottom line was clicked."""

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

    def explain(self, text: str) -> None:
        """Show what may be typed here; "" shows the keys again."""
        self.offer((text,) if text else ())

    def line_count(self) -> int:
        return 1

    def line(self, y: int) -> Line:
        if self._offers:
            return [Part(" " + "  ".join(map(printable, self._offers)), "muted")]
        line: Line = []
        for hint in self._fitting():
            line += [Part("  " if line else " "), Part(hint.key, "strong")]
            line.append(Part(f" {hint.word}", "muted"))
        return line

    def _fitting(self) -> list[Hint]:
        """Return the first hints, as many as there is room for."""
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
