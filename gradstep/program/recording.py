"""Records what a program does in a file: a script that is run, or a part of the caller's own."""

from __future__ import annotations

import atexit
import os
import platform
import signal
import sys
import time
import warnings
from contextlib import ExitStack
from pathlib import Path
from threading import current_thread, main_thread
from typing import Any, Self, get_args

from gradstep.contract.events import noting_events
from gradstep.graph.statistics import Trouble
from gradstep.guest.ranks import rank_and_size
from gradstep.guest.versions import own_versions
from gradstep.program.calls import CallSelector, intercepting
from gradstep.program.errors import BadTarget, ScriptExited, ScriptFailed
from gradstep.program.process import run_as_main
from gradstep.program.run import Failure
from gradstep.program.target import Target, require_file
from gradstep.recording.facts import Header, Level
from gradstep.recording.recorder import Flight, Recorder
from gradstep.recording.schedule import BUDGET, Schedule
from gradstep.recording.writing import MAX_SIZE, FileSink
from gradstep.text import suggests

_EVERY_CALL = CallSelector(None, ("backward", "grad"))


class Recording:
    """Records the backward calls of a program to a file: all that are made within ``with``, or from
    the first :meth:`step`, or :meth:`start`, until :meth:`close`.

    Calls of the thread that began it are recorded. Made by :func:`record`.

    A recording that is at ``path`` already gets another name first.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        schedule: Schedule,
        flight: Flight | None = None,
        *,
        max_size: int = MAX_SIZE,
        sources: bool = True,
        command: tuple[str, ...] = (),
        folder: Path | None = None,
    ) -> None:
        self._path = Path(path)
        self._sink: FileSink | None = None
        self._schedule, self._flight = schedule, flight
        self._max_size, self._sources = max_size, sources
        self._command, self._folder = command, folder
        self._within = ExitStack()
        self._watcher: Recorder | None = None

    @property
    def path(self) -> Path:
        """The file; it has another name than was asked for where somebody else writes to that, or
        it cannot be written."""
        return self._path if self._sink is None else self._sink.path

    @property
    def file(self) -> Path | None:
        """Where the file is, whatever the current directory is; None as long as there is none."""
        return None if self._sink is None else self._sink.file

    @property
    def has_failed(self) -> bool:
        """Whether the file could not be written, or not to its end."""
        return self._sink is not None and self._sink.has_failed

    @property
    def calls(self) -> int:
        """How many calls there were so far."""
        return 0 if self._watcher is None else self._watcher.index

    def start(self) -> None:
        """Begin to record, if that has not begun; the lines of PyTorch's ops are not noted.

        Raises:
            RecordingError: the path is no place for a recording: another file is there.
        """
        # the mode that notes lines has to end where it began, not within another one: ``with`` does
        self._start(lines=False)

    def _start(self, *, lines: bool) -> None:
        if self._watcher is not None:
            return
        header = _header(self._command)
        sink = self._sink = FileSink(
            self._path, header, self._max_size, waits=self._flight is not None
        )
        watcher = self._watcher = Recorder(
            sink, header, self._schedule, self._flight, folder=self._folder, sources=self._sources
        )
        atexit.register(self.close)
        self._within.callback(atexit.unregister, self.close)
        self._hear_warnings(watcher)
        self._hear_termination(watcher)
        self._within.enter_context(noting_events())
        calls = self._within.enter_context(
            intercepting(
                lambda intercepted: False, _EVERY_CALL,
                values=True if self._schedule.full == "all" else "core", look=watcher, defers=True,
                lines=lines,
            )
        )  # fmt: skip
        watcher.counts = calls.counts

    def step(self) -> None:
        """Say that a step of the training is done; the first time, begin to record."""
        self.start()
        assert self._watcher is not None
        self._watcher.step += 1

    def close(self, failed: str = "") -> None:
        """Record no more, and make one file of what was recorded; ``failed`` says how the program
        failed, "" where it did not."""
        watcher = self._watcher
        if watcher is None or watcher.is_over:
            return
        try:
            self._within.close()
        finally:
            watcher.end(failed)

    def __enter__(self) -> Self:
        self._start(lines=True)
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        self.close("" if error is None else type(error).__name__)

    def _hear_warnings(self, watcher: Recorder) -> None:
        show = warnings.showwarning

        def shown(
            message: Warning | str, category: type[Warning], filename: str, lineno: int, *rest: Any
        ) -> None:
            watcher.warned(category.__name__, str(message), filename, lineno)
            show(message, category, filename, lineno, *rest)

        def put_back() -> None:
            if warnings.showwarning is shown:
                warnings.showwarning = show

        warnings.showwarning = shown  # type: ignore[assignment]  # by position, as it is called
        self._within.callback(put_back)

    def _hear_termination(self, watcher: Recorder) -> None:
        """Have the recording ended when the process is, by SIGTERM, unless the program does so."""
        if current_thread() is not main_thread():
            return
        if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            return
        process = os.getpid()
        asked = is_written = False

        def end() -> None:
            nonlocal is_written
            watcher.on_idle = None
            if os.getpid() == process:
                watcher.end("SIGTERM")
            is_written = True
            os.kill(os.getpid(), signal.SIGTERM)

        def ended(number: int, frame: Any) -> None:
            nonlocal asked
            if is_written:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                os.kill(os.getpid(), signal.SIGTERM)
            elif asked:
                return  # the scheduler of a cluster sends one, and torchrun passes its own on
            elif watcher.is_busy and os.getpid() == process:
                asked, watcher.on_idle = True, end
            else:
                asked = True
                end()

        def put_back() -> None:
            if signal.getsignal(signal.SIGTERM) is ended:
                signal.signal(signal.SIGTERM, signal.SIG_DFL)

        signal.signal(signal.SIGTERM, ended)
        self._within.callback(put_back)


@suggests
def record(
    path: str | os.PathLike[str] = "run.gsr",
    *,
    call: str = "",
    every: int = 0,
    values: Level = "stats",
    when: str = "",
    keep: int = 20,
    budget: float | None = BUDGET,
    max_size: int = MAX_SIZE,
    sources: bool = True,
) -> Recording:
    """Record the backward calls of this program, to look at them later or elsewhere.

    Args:
        path: the file to write. A recording that is there is renamed, ``run.gsr`` to
            ``run.1.gsr``; another file is not touched.
        call: which calls to keep in full: ``3``, ``last``, ``all`` or ``1,100:110``. By default the
            first five, then 8, 16, 32, ..., and the newest for which there is time. Of all others,
            the loss and the leaves are kept.
        every: keep each call in full whose number is a multiple of it.
        values: what to keep of a call in full: ``stats`` describes all that flows in it, ``all``
            keeps the tensors, too; ``leaves`` keeps no call in full.
        when: a flight recorder: keep the newest calls in memory, and write them when a loss or a
            gradient is ``nan`` or ``inf``, or either (``nan,inf``), and when the program fails. No
            file is touched before.
        keep: how many calls that is.
        budget: what the program may take, as a multiple of what it takes plainly; None is without
            bound.
        max_size: bytes of the file, 2 GB by default; beyond, older calls are thinned.
        sources: keep the text of the files that graphs name, too.

    Raises:
        ValueError: an argument is none of these.
        RecordingError: there is another file at ``path``, or no such folder; when the recording
            begins. Where the file cannot be written, the program runs without a recording.

    >>> import autograd_core as torch, gradstep, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "run.gsr")
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> with gradstep.record(path) as recording:
    ...     (x * x).backward()
    >>> recording.calls
    1
    """
    return Recording(
        path, schedule_of(call, every, values, budget), flight_of(when, keep), max_size=max_size,
        sources=sources, command=tuple(sys.argv),
    )  # fmt: skip


def schedule_of(call: str, every: int, values: Level, budget: float | None) -> Schedule:
    """Return the schedule that the arguments of :func:`record` ask for.

    Raises:
        BadTarget, ValueError: they are no such arguments.
    """
    if values not in ("leaves", "stats", "all"):
        raise ValueError(f"values is leaves, stats or all, not {values!r}")
    if budget is not None and not budget > 1:
        raise ValueError(f"a budget is more than 1, not {budget}")
    if every < 0:
        raise ValueError(f"every is a positive number, not {every}")
    if not call:
        return Schedule(values, None, every, budget=budget)
    selector = CallSelector.parse(call)
    if selector.last:
        return Schedule(values, lambda number, kind: False, every, budget=None)
    return Schedule(values, selector.requests, every, last=False, budget=budget)


def flight_of(when: str, keep: int) -> Flight | None:
    """Return the flight recorder that ``when`` asks for.

    Raises:
        ValueError: it is none.
    """
    if not when:
        return None
    conditions = [word.strip() for word in when.split(",")]
    unknown = [condition for condition in conditions if condition not in get_args(Trouble)]
    if unknown:
        raise BadTarget(f"when {when}: a condition is nan or inf, or both (nan,inf)")
    if keep < 1:
        raise ValueError(f"keep is a positive number, not {keep}")
    known: tuple[Trouble, ...] = ("nan", "inf")
    return Flight([word for word in known if word in conditions], keep)


def record_target(target: Target, arguments: list[str], recording: Recording) -> Failure | None:
    """Run a script or a module, and record it; returns how it failed, None where it did not.

    Raises:
        ProgramError: there is no such program.
        RecordingError: the path is no place for a recording.
    """
    require_file(target)
    if target.name:
        raise BadTarget(f"{target}: record takes a script or a module, which is run whole")
    failed = "an error"
    try:
        recording.__enter__()
        try:
            run_as_main(target, arguments)
        except (ScriptFailed, ScriptExited, KeyboardInterrupt) as error:
            cause = error.error if isinstance(error, ScriptFailed) else error
            failed = (
                f"exit code {error.code}"
                if isinstance(error, ScriptExited)
                else (type(cause).__name__)
            )
            return error
        failed = ""
        return None
    finally:
        recording.close(failed)


def _header(command: tuple[str, ...]) -> Header:
    rank, size = rank_and_size()
    return Header(
        command,
        {},
        own_versions(),
        platform.platform(),
        rank,
        size,
        time.time(),
    )
