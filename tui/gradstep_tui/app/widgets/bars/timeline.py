"""The timeline: how large the gradient was at every step of the pass, and where we are in it."""

from __future__ import annotations

import math
from contextlib import suppress
from itertools import pairwise

from textual import events

from gradstep.debugger.snapshot import Snapshot
from gradstep_tui.app.messages import PositionChosen
from gradstep_tui.app.sections.page import ScreenView
from gradstep_tui.app.widgets.charts import TROUBLE, decades, level
from gradstep_tui.app.widgets.line_view import ViewWidget
from gradstep_tui.app.widgets.text import Line, Part
from gradstep_tui.errors import AtWork

NODES_PER_TICK = 60
LABEL = " "


class Timeline(ViewWidget):
    """One character per step, or for several in a long pass: the logarithm of the rms of what
    arrived, ``!`` where some element is no number.

    Of a long pass, one step per character is looked at first and the others when there is time.
    """

    def __init__(self, view: ScreenView) -> None:
        super().__init__(view, id="timeline")
        self._magnitudes: dict[int, float | None] = {}
        self._troubled: set[int] = set()
        self._scanned = 0

    def on_mount(self) -> None:
        self.set_interval(0.05, self._look_further)

    def watch_view(self, before: ScreenView, view: ScreenView) -> None:
        """Show another snapshot; what was seen of its steps stays, unless they were changed."""
        old, new = before.snapshot, view.snapshot
        if new is old:
            return
        if new.graph is not old.graph:
            self._forget(0)
        elif new.edits != old.edits:
            self._forget(new.position)
        self.update_lines()

    def _forget(self, start: int) -> None:
        self._magnitudes = {at: size for at, size in self._magnitudes.items() if at < start}
        self._troubled = {at for at in self._troubled if at < start}
        self._scanned = min(self._scanned, start)

    @property
    def troubled(self) -> list[int]:
        """The steps, as far as they were looked at, to which something came that is no number."""
        return sorted(self._troubled)

    def _magnitude(self, index: int) -> float | None:
        """Return the rms of what arrived at a node that has run, nan for what is no number."""
        if index not in self._magnitudes:
            totals = [each.total for each in self.view.session.detail(index).incoming]
            statistics = [total.statistics for total in totals if total is not None]
            size = None if not statistics else statistics[0].rms
            if any(each.trouble for each in statistics):
                size = math.nan
                self._troubled.add(index)
            self._magnitudes[index] = size
        return self._magnitudes[index]

    def _look_further(self) -> None:
        """Look at steps that nothing on the screen needed yet."""
        snapshot = self.view.snapshot
        if snapshot.usage and snapshot.usage.dropped:
            return
        before = len(self._troubled)
        stop = min(snapshot.position, self._scanned + NODES_PER_TICK)
        with suppress(AtWork):
            for index in range(self._scanned, stop):
                self._magnitude(index)
            self._scanned = max(self._scanned, stop)
        if len(self._troubled) != before:
            self.update_lines()

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
        shown = [
            self._magnitude(start) if start < snapshot.position else self._magnitudes.get(start)
            for start, _ in columns
        ]
        troubled = sorted(self._troubled)
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
