"""The page of ``gradstep check -o report.html``, which is written anew while the run goes on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Final, Self

from gradstep.findings.report import NotSeen, Report
from gradstep.guest.fence import within_fence
from gradstep.text import plural
from gradstep_viz.errors import CannotWrite
from gradstep_viz.output.files import write_atomically

_PAUSE: Final = 3.0
"""Seconds from the start, or from one page, to the next one at least."""
_SHARE: Final = 0.01
"""Of the time of a run that its pages may take."""


class LivePage:
    """Writes a page of the report so far from time to time."""

    def __init__(self, path: Path, here: Path) -> None:
        self._path, self._here = path, here
        self._next = perf_counter() + _PAUSE
        self._last: Report | None = None

    def update(self, report: Callable[[], Report]) -> None:
        """Write what ``report`` returns, if it is time."""
        began = perf_counter()
        if began < self._next:
            return
        with within_fence("the page of the run so far"):
            self._last = report()
            self._write(self._last, is_live=True)
        self._next = began + max(_PAUSE, (perf_counter() - began) / _SHARE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Have the page loaded no more where no other one will be written."""
        if error is not None and self._last is not None:
            calls = plural(self._last.calls, "call")
            words = f"what came after {calls}: there is no report on that"
            left_out = (*self._last.not_looked_at, NotSeen("end_of_run", words))
            self._write(replace(self._last, not_looked_at=left_out), is_live=False)

    def _write(self, report: Report, *, is_live: bool) -> None:
        try:
            page = report.html(self._here, is_live=is_live)
            write_atomically(self._path, page.encode("utf-8", "replace"))
        except CannotWrite:
            self._next = float("inf")  # the last page will say so
