"""The line at the top: which call, how far, in which state, and why it stopped."""

from __future__ import annotations

from autograd_core.debug.snapshot import Snapshot
from tui.app.widgets.line_view import LineView
from tui.app.widgets.text import Line, Part, StyleName, fit, node_label, plain


class StatusLine(LineView):
    """One line that always says where we are."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self._program = title
        self._snapshot: Snapshot | None = None
        self._busy = ""

    def show(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._busy = ""
        self.update_lines()

    def show_busy(self, command: str) -> None:
        """Say that ``command`` is at work."""
        self._busy = command
        self.update_lines()

    def line_count(self) -> int:
        return 1

    def line(self, y: int) -> Line:
        snapshot = self._snapshot
        if snapshot is None:
            return []
        title = plain(self._program or snapshot.graph.title or "backward")
        state, style = state_text(snapshot)
        if self._busy:
            state, style = "BUSY", "strong"
        where = f"{snapshot.kind} {snapshot.call} · {snapshot.position}/{snapshot.length} run · "
        room = max(8, self.text_width - len(where) - len(state) - 5)
        reason = self._busy or reason_text(snapshot)
        title_width = min(len(title), max(20, room - len(reason) - 3))
        line = [
            Part(" " + fit(title, title_width), "title"),
            Part(" · " + where, "muted"),
            Part(state, style),
        ]
        used = sum(len(part.text) for part in line)
        if reason:
            line.append(Part(" · " + fit(reason, max(0, self.text_width - used - 3))))
        return line


def state_text(snapshot: Snapshot) -> tuple[str, StyleName]:
    """The state in one word, and its style."""
    if snapshot.status == "failed":
        return "FAILED", "trouble"
    if snapshot.past:
        return "PAST", "strong"
    if snapshot.status == "finished":
        return "FINISHED", "strong"
    return "PAUSED", "backward"


def reason_text(snapshot: Snapshot) -> str:
    """Why the debugger stopped here, in words; what the list shows anyway comes last."""
    if snapshot.status == "failed" and snapshot.error:
        return plain(snapshot.error)
    parts = []
    if snapshot.past:
        parts.append(f"recorded to {snapshot.recorded}")
    if snapshot.reason:
        parts.append(plain(snapshot.reason))
    if snapshot.position < snapshot.length:
        parts.append("before " + node_label(snapshot, snapshot.position))
    return " · ".join(parts)
