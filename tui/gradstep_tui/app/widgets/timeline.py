"""The timeline: how large the gradient was at every step of the pass, and where we are in it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from textual import events
from textual.message import Message

from gradstep.debugger.snapshot import Snapshot
from gradstep_tui.app.sections.page import ScreenView
from gradstep_tui.app.widgets.charts import TROUBLE, decades, level
from gradstep_tui.app.widgets.line_view import ViewWidget
from gradstep_tui.app.widgets.text import Line, Part
from gradstep_tui.errors import AtWork

LABEL = " "


@dataclass(eq=False)
class PositionChosen(Message):
    """A place of the timeline was clicked."""

    position: int


class Timeline(ViewWidget):
    """One character per step, or for several in a long pass: the logarithm of the rms of what
    arrived, ``!`` where some element is no number.

    Of a long pass, one step per character is looked at first and the others when there is time.
    """

    def __init__(self, view: ScreenView) -> None:
        super().__init__(view, id="timeline")

    def watch_view(self, before: ScreenView, view: ScreenView) -> None:
        """Show another snapshot."""
        if view.snapshot is not before.snapshot:
            self.update_lines()

    def _magnitude(self, index: int) -> float | None:
        return self.view.notes.flow.at(self.view.facts.flow, index).rms

    # -- line ----------------------------------------------------------------

    def line_count(self) -> int:
        return 1

    def _ranges(self, length: int) -> list[tuple[int, int]]:
        """Return the steps that each character stands for."""
        columns = max(1, min(length, self.text_width - 2 * len(LABEL)))
        starts = [column * length // columns for column in range(columns + 1)]
        return list(pairwise(starts))

    def line(self, y: int) -> Line:
        snapshot = self.view.snapshot
        if not snapshot.length:
            return []
        try:
            return self._line(snapshot)
        except AtWork:  # as it was
            return self._drawn[0][0] if 0 in self._drawn else []

    def _line(self, snapshot: Snapshot) -> Line:
        columns = self._ranges(snapshot.length)
        # of what has run, but not yet where we are in the past, the screen remembers something
        flow = self.view.notes.flow
        shown = [
            self._magnitude(start)
            if start < snapshot.position
            else known.rms
            if (known := flow.known(start)) is not None
            else None
            for start, _ in columns
        ]
        troubled = flow.troubled
        low, high = decades(shown)
        line: Line = [Part(LABEL)]
        place = 0
        for (start, stop), size in zip(columns, shown, strict=True):
            while place < len(troubled) and troubled[place] < start:
                place += 1
            bad = place < len(troubled) and troubled[place] < stop
            if start <= snapshot.position < stop:
                line.append(Part("▶", "strong"))
            elif bad:
                line.append(Part(TROUBLE, "trouble"))
            else:
                line.append(_mark(snapshot, start, size, (low, high)))
        return line

    def on_click(self, event: events.Click) -> None:
        length = self.view.snapshot.length
        if not length:
            return
        column = event.get_content_offset_capture(self).x - len(LABEL)
        ranges = self._ranges(length)
        start, _ = ranges[max(0, min(len(ranges) - 1, column))]
        self.post_message(PositionChosen(start))


def _mark(snapshot: Snapshot, step: int, size: float | None, logs: tuple[float, float]) -> Part:
    """Return the mark of a step with what arrived there, between two decimal logarithms."""
    ran = step < snapshot.position
    if size is None:
        return Part("∅" if ran else "·" if step < snapshot.recorded else "╌", "faint")
    return Part(level(size, *logs), "backward" if ran else "faint")
