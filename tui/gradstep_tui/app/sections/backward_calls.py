"""The backward calls of the program: those that are over, this one, and the passes inside it."""

from __future__ import annotations

from gradstep.debugger.snapshot import PassFrame, Snapshot
from gradstep.debugger.snapshot.timeline import CallRecord
from gradstep.text import printable
from gradstep_tui.app.sections.page import Page, ScreenView
from gradstep_tui.app.sections.source import source_text
from gradstep_tui.app.widgets.charts import sparkline
from gradstep_tui.app.widgets.text import Line, Part, fit

MOST = 500  # calls that are listed, the last ones
TITLE_WIDTH = 20


def page(view: ScreenView) -> Page:
    """Return one line per call; what a leaf kept from the call before is said."""
    snapshot = view.snapshot
    calls = snapshot.calls[-MOST:]
    lines = [_call_line(call) for call in calls]
    lines += [_frame_line(frame, snapshot) for frame in snapshot.frames]
    if not snapshot.frames:
        lines.append([Part(f"▶ {snapshot.call:>4} ", "strong"), Part("this call")])
    return Page(lines, focus=len(lines) - 1)


def _call_line(call: CallRecord) -> Line:
    kept = [leaf.name for leaf in call.leaves if leaf.kept]
    where = "" if call.source is None else source_text(call.source)
    sizes = [
        float("nan") if leaf.added.trouble else leaf.added.rms
        for leaf in call.leaves[:12]
        if leaf.added is not None
    ]
    line: Line = [
        Part(f"✓ {call.number:>4} ", "muted"),
        Part(fit(printable(call.title), TITLE_WIDTH) + " "),
        Part(f"{call.nodes:>6,} nodes  ", "muted"),
        *sparkline(sizes),
        Part(f"  {where}", "muted"),
    ]
    if kept:
        names = printable(", ".join(kept[:3])) + (" …" if len(kept) > 3 else "")
        line.append(Part(f"  ! added to what was there: {names}", "trouble"))
    return line


def _frame_line(frame: PassFrame, snapshot: Snapshot) -> Line:
    mark = "▶" if frame.selected else "│"
    inside = f" in {printable(frame.parent)}" if frame.parent else ""
    return [
        Part(f"{mark} {snapshot.call if not frame.depth else '':>4} ", "strong"),
        Part("  " * frame.depth + printable(frame.title) + inside),
        Part(f"  {frame.position:,} of {frame.length:,} run", "muted"),
    ]
