"""The user's changes in this pass, and their effect on every leaf."""

from __future__ import annotations

from gradstep.graph.addresses import before
from gradstep.text import printable
from gradstep_tui.app.sections.page import NodeTarget, Page, ScreenView, Target, sentence
from gradstep_tui.app.widgets.text import Line, Part


def page(view: ScreenView) -> Page:
    """Return the edits that hold and, if asked for, the difference from the unedited run."""
    edits = view.snapshot.edits
    if not edits:
        return sentence(
            view,
            "nothing was changed in this pass",
            "e sets, * scales, ~ clips, 0 zeroes the sum at the row; x mutes",
        )
    lines: list[Line] = [
        [Part(f" E {edit.number:>2} ", "strong"), Part(printable(edit.text)),
         Part(f"  made {before(edit.position, view.snapshot.length)}", "muted")]
        for edit in edits
    ]  # fmt: skip
    notes = view.notes
    lines.append([Part("difference from the unedited run", "title")])
    if notes.difference:
        stale = notes.difference_at != view.snapshot.position
        if stale:
            lines.append(
                [Part(f"  as of {notes.difference_at:,} nodes run; d updates it", "muted")]
            )
        lines += [[Part("  " + printable(text))] for text in notes.difference.splitlines()]
    else:
        lines.append([Part("  d computes it, U undoes the last change", "muted")])

    def target(line: int, column: int) -> Target | None:
        return NodeTarget(edits[line].index) if line < len(edits) else None

    return Page(lines, target=target)
