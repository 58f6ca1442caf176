"""What the callbacks of all frameworks do: watch, or record, what a trainer runs, and report."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from gradstep.findings.finding import Finding
from gradstep.findings.report import Report, one_line
from gradstep.guest.fence import tell, within_fence
from gradstep.guest.ranks import rank_and_size
from gradstep.program.recording import Recording, record
from gradstep.program.settings import settings_of_program
from gradstep.program.watching import Run, check, watch


class TrainingReports:
    """Watches the backward calls of a training, and reports on stderr: what is found, every
    ``every`` steps of the optimizer, and all of it at the end.

    In a job of several processes, process 0 does so.

    Args:
        every: how many steps there are between two reports, each of what calls have shown since the
            last one; 0 reports at the end only.
        record: a file. All calls are recorded to it instead, and the report at the end is what the
            recording tells, which is less: nobody looks at the calls one by one.
        ignore: codes of findings to leave out.

    Raises:
        ValueError: there is no finding of such a code; or ``every`` is given with ``record``.
    """

    _looks: Run | Recording | None
    _is_on: bool
    _step: int
    _told: set[Finding]

    def __init__(
        self,
        *,
        every: int = 0,
        record: str | os.PathLike[str] | None = None,
        ignore: Collection[str] = (),
    ) -> None:
        settings_of_program().ignored(ignore)  # what is wrong there is told now
        if every and record:
            raise ValueError("a recording is looked at when it ends: leave out every, or record")
        self._every, self._record, self._ignored = every, record, tuple(ignore)
        self.__dict__ |= self.__getstate__()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy has: it looks at what its own trainer runs."""
        return self.__dict__ | {"_looks": None, "_is_on": False, "_step": 0, "_told": set()}

    def report(self) -> Report | None:
        """Return the report on the last training, so far; None where there is none yet."""
        if isinstance(self._looks, Run):
            return self._looks.report()
        if self._looks is None or self._looks.file is None or not self._looks.calls:
            return None
        return check(self._looks.file, ignore=self._ignored)

    def _begin(self, model: Any, optimizer: Any, step: int) -> None:
        """Begin to look at a training, whose optimizer has made so many steps."""
        self._end()  # one that failed, and did not tell
        if rank_and_size()[0]:
            return
        if self._record:
            self._looks = record(self._record)
        else:
            self._looks = watch(model, optimizer, ignore=self._ignored)
        self._looks.__enter__()
        self._is_on, self._step = True, step
        self._told.clear()
        atexit.register(self._end_with_program)

    def _took(self, step: int) -> None:
        """Take note that the optimizer has made so many steps."""
        if not self._is_on or step == self._step:
            return
        before, self._step = self._step, step
        if isinstance(self._looks, Recording):
            self._looks.step()
        elif self._looks and self._every and step // self._every > before // self._every:
            with within_fence("a report"):
                new = [each for each in self._looks.certain if each not in self._told]
                for finding in new:
                    tell(f"step {step:,}: {one_line(finding, Path.cwd())}")
                self._told.update(new)

    def _end(self, error: BaseException | None = None) -> None:
        """Look no more, and report; ``error`` is what ended the training."""
        if not self._is_on or self._looks is None:
            return
        self._is_on = False
        atexit.unregister(self._end_with_program)
        kind, place = (None, None) if error is None else (type(error), error.__traceback__)
        self._looks.__exit__(kind, error, place)
        with within_fence("the report"):
            if (report := self.report()) is not None:
                with suppress(AttributeError, OSError, ValueError):  # there is no stderr
                    sys.stderr.write(f"{report.text()}\n")

    def _end_with_program(self) -> None:
        """End where the program does, of whose error the framework does not tell."""
        self._end(getattr(sys, "last_value", None))
