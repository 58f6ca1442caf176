"""What a terminal shows while a program runs, or a picture is drawn, and that takes long."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread
from time import monotonic

from gradstep.contract.op_records import ops_so_far
from gradstep.text import plural
from gradstep_tui import output

SILENCE = 0.5
"""Seconds without a sign of life."""


class Waiting:
    """Shows on a terminal what happens, and for how many seconds, at the right end of a line: the
    program may print, too.

    Attributes:
        phase: what happens now; "" while the program runs, whose ops are counted.
    """

    def __init__(self, opening: str = "", *, shown: bool = True) -> None:
        """Wait for something; ``opening`` is said first, if it takes long."""
        self.phase = ""
        self._opening = opening
        self._over = Event()
        self._thread = Thread(target=self._count, daemon=True) if shown else None

    def start(self) -> None:
        """Wait from now on."""
        if self._thread is not None and output.progress_is_seen():
            self._thread.start()

    def _count(self) -> None:
        started, before = monotonic(), ops_so_far()
        if self._over.wait(SILENCE):
            return
        if self._opening:
            output.say(self._opening)
        while not self._over.wait(SILENCE):
            ops = ops_so_far() - before
            what = self.phase or (plural(ops, "op") if ops else "running")
            output.progress_beside(f"{what}, {monotonic() - started:.0f} s")
        output.progress_beside("")

    def stop(self) -> None:
        """It is over: the line is taken away."""
        self._over.set()
        if self._thread is not None and self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> Waiting:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class ProgressLine:
    """A line of a terminal that tells how far work is, once that has lasted ``patience`` seconds,
    and not more often than each ``pause`` seconds; ``show`` writes it, and clears it where the text
    is ""."""

    def __init__(self, show: Callable[[str], None], *, pause: float, patience: float = 0) -> None:
        self._show = show
        self._began = monotonic()
        self._next = self._began + max(patience, pause)
        self._pause = pause
        self._is_written = False

    @property
    def seconds(self) -> float:
        """How long the work lasts."""
        return monotonic() - self._began

    @property
    def is_due(self) -> bool:
        """Whether it is time to tell how far it is."""
        return monotonic() > self._next

    def show(self, text: str) -> None:
        """Tell how far it is, if it is time to, and somebody may be watching."""
        if self.is_due:
            self._next = monotonic() + self._pause
            if output.progress_is_seen():
                self._is_written = True
                self._show(text)

    def close(self) -> None:
        """Clear the line."""
        if self._is_written:
            self._is_written = False
            self._show("")
