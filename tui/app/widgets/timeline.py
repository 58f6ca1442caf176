"""The timeline: how large the gradient was at every step of the pass, and where we are in it."""

from __future__ import annotations

import math
from itertools import pairwise

from textual import events

from autograd_core.debug.protocol import DebugSession
from autograd_core.debug.records.snapshot import Snapshot
from tui.app.messages import PositionChosen
from tui.app.widgets.charts import TROUBLE, decades, level
from tui.app.widgets.line_view import LineView
from tui.app.widgets.text import Line, Part

NODES_PER_TICK = 60
LABEL = " "


class Timeline(LineView):
    """One character per step, or for several in a long pass: the logarithm of the rms of what
    arrived, ``!`` where some element is no number.

    Of a long pass, one step per character is looked at first and the others when there is time.
    """

    def __init__(self, session: DebugSession) -> None:
        super().__init__(id="timeline")
        self._session = session
        self._snapshot: Snapshot | None = None
        self._magnitudes: dict[int, float | None] = {}
        self._troubled: set[int] = set()
        self._scanned = 0
        self.busy = False

    def on_mount(self) -> None:
        self.set_interval(0.05, self._look_further)

    def show(self, snapshot: Snapshot) -> None:
        """Take over a new snapshot; what was seen of its steps stays, unless they were changed."""
        before, self._snapshot = self._snapshot, snapshot
        if before is not None and before.graph is not snapshot.graph:
            self._forget(0)
        elif before is not None and before.edits != snapshot.edits:
            self._forget(snapshot.position)
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
        """The rms of what arrived at a node that has run, nan for what is no number."""
        if index not in self._magnitudes:
            totals = [each.total for each in self._session.detail(index).incoming]
            found = [total.statistics for total in totals if total is not None]
            size = None if not found else found[0].rms
            if any(each.trouble for each in found):
                size = math.nan
                self._troubled.add(index)
            self._magnitudes[index] = size
        return self._magnitudes[index]

    def _look_further(self) -> None:
        """Look at steps that nothing on the screen needed yet."""
        snapshot = self._snapshot
        if self.busy or snapshot is None or (snapshot.usage and snapshot.usage.dropped):
            return
        before = len(self._troubled)
        stop = min(snapshot.position, self._scanned + NODES_PER_TICK)
        for index in range(self._scanned, stop):
            self._magnitude(index)
        self._scanned = max(self._scanned, stop)
        if len(self._troubled) != before:
            self.update_lines()

    # -- line ----------------------------------------------------------------

    def line_count(self) -> int:
        return 1

    def _ranges(self) -> list[tuple[int, int]]:
        """The steps that each character stands for."""
        length = 0 if self._snapshot is None else self._snapshot.length
        columns = max(1, min(length, self.text_width - 2 * len(LABEL)))
        starts = [column * length // columns for column in range(columns + 1)]
        return list(pairwise(starts))

    def line(self, y: int) -> Line:
        snapshot = self._snapshot
        if snapshot is None or not snapshot.length or self.busy:
            return self._drawn[0][0] if 0 in self._drawn else []
        columns = self._ranges()
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
            line.append(self._mark(start, stop, size, bad, (low, high)))
        return line

    def _mark(
        self, start: int, stop: int, size: float | None, bad: bool, logs: tuple[float, float]
    ) -> Part:
        assert self._snapshot is not None
        position = self._snapshot.position
        if start <= position < stop:
            return Part("▶", "strong")
        if bad:
            return Part(TROUBLE, "trouble")
        ran = start < position
        if size is None:
            return Part("∅" if ran else "·" if start < self._snapshot.recorded else "╌", "faint")
        return Part(level(size, *logs), "backward" if ran else "faint")

    def on_click(self, event: events.Click) -> None:
        if self._snapshot is None or not self._snapshot.length:
            return
        column = event.get_content_offset_capture(self).x - len(LABEL)
        ranges = self._ranges()
        start, _ = ranges[max(0, min(len(ranges) - 1, column))]
        self.post_message(PositionChosen(start))
