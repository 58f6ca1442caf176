"""The line at the top: which call, how far, in which state, and why it stopped."""

from __future__ import annotations

from textual.reactive import reactive

from gradstep.debugger.snapshot import Snapshot
from gradstep.text import printable
from gradstep_tui.app.sections.page import ScreenView
from gradstep_tui.app.widgets.line_view import ViewWidget
from gradstep_tui.app.widgets.text import Line, Part, StyleName, fit, node_label
from gradstep_tui.app.worker import Progress

BAR_WIDTH = 10
_LEAST = 24  # letters of a reason that are worth showing


class StatusLine(ViewWidget):
    """One line that always says where we are."""

    progress: reactive[Progress | None] = reactive(None, repaint=False, init=False)

    def __init__(self, view: ScreenView, title: str) -> None:
        super().__init__(view)
        self._program = title

    def watch_view(self) -> None:
        self.update_lines()

    def watch_progress(self) -> None:
        self.update_lines()

    def line_count(self) -> int:
        return 1

    def line(self, y: int) -> Line:
        snapshot, progress = self.view.snapshot, self.progress
        title = printable(self._program or snapshot.graph.title or "backward")
        state, style = state_text(snapshot)
        position = snapshot.position
        reason = reason_text(snapshot)
        here = here_text(snapshot)
        if progress is not None:
            state, style, position = "BUSY", "strong", progress.position
            reason = f"{progress_bar(position, snapshot.length)} {progress.work} · esc pauses"
            here = ""
        passes = nesting_text(snapshot) or f"{snapshot.kind} {snapshot.call}"
        where = f"{passes} · {position:,}/{snapshot.length:,} run · "
        room = max(8, self.text_width - len(where) - len(state) - 5)
        title_width = min(len(title), max(20, room - len(reason) - 3))
        line = [
            Part(" " + fit(title, title_width), "title"),
            Part(" · " + where, "muted"),
            Part(state, style),
        ]
        used = sum(len(part.text) for part in line)
        if reason := fitting(reason, self.text_width - used - 3):
            line.append(Part(f" · {reason}"))
            used += len(reason) + 3
        if here and used + 3 + len(here) <= self.text_width:
            line.append(Part(f" · {here}"))
        return line


def fitting(reason: str, room: int) -> str:
    """Return the parts of a reason that fit; where not even the first does, its beginning, unless
    that is too short to be read.

    >>> fitting("1 change · end of the backward pass", 20)
    '1 change'
    >>> fitting("catch 1: nan, out of #4 pow:1", 25), fitting("before the first node", 9)
    ('catch 1: nan, out of #4 …', '')
    """
    parts = reason.split(" · ")
    for count in range(len(parts), 0, -1):
        if len(text := " · ".join(parts[:count])) <= room:
            return text
    return fit(reason, room).rstrip() if room >= _LEAST else ""


def progress_bar(done: int, length: int) -> str:
    """Draw how much has run.

    >>> progress_bar(3, 10)
    '■■■□□□□□□□'
    """
    filled = done * BAR_WIDTH // length if length else 0
    return "■" * filled + "□" * (BAR_WIDTH - filled)


def nesting_text(snapshot: Snapshot) -> str:
    """Return the passes that are open inside each other, the outermost first; "" for one alone."""
    if len(snapshot.frames) < 2:
        return ""
    return " › ".join(printable(frame.title) for frame in snapshot.frames)


def state_text(snapshot: Snapshot) -> tuple[str, StyleName]:
    """Return the state in one word, and its style."""
    if snapshot.status == "failed":
        return "FAILED", "trouble"
    if is_past(snapshot):
        return "PAST", "strong"
    if snapshot.status == "finished":
        return "FINISHED", "strong"
    return "INSIDE" if snapshot.phase else "PAUSED", "backward"


def is_past(snapshot: Snapshot) -> bool:
    """Return whether more has run than what is shown; a node that is looked into has run as a
    whole."""
    return snapshot.position + bool(snapshot.phase) < snapshot.recorded


def here_text(snapshot: Snapshot) -> str:
    """Return the node that runs next, which the list shows, too; "" at both ends and inside."""
    if 0 < snapshot.position < snapshot.length and not snapshot.phase:
        return "before " + node_label(snapshot, snapshot.position)
    return ""


def reason_text(snapshot: Snapshot) -> str:
    """Say why the debugger stopped here."""
    if snapshot.status == "failed" and snapshot.error:
        return printable(snapshot.error)
    parts = []
    if is_past(snapshot):
        parts.append(f"recorded to {snapshot.recorded:,}")
    if snapshot.edits:
        count = len(snapshot.edits)
        parts.append(f"{count} {'change' if count == 1 else 'changes'}")
    if snapshot.reason:
        parts.append(printable(snapshot.reason))
    return " · ".join(parts)
