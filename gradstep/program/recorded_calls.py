"""Goes through the calls of a recording as :func:`~gradstep.program.run.run_target` goes through
those of a script."""

from __future__ import annotations

import linecache
from collections.abc import Collection, Sequence
from functools import partial
from io import StringIO
from pathlib import Path

from gradstep.engines.recorded import RecordedCall, names_of
from gradstep.program.calls import CallSelector, Handle, InterceptedCall
from gradstep.program.errors import ProgramError, ScriptDone
from gradstep.recording.errors import RecordingError
from gradstep.recording.facts import CallFacts
from gradstep.recording.reading import FileRun
from gradstep.recording.run import Run, not_in_full


def go_through(path: Path, requested: CallSelector, handle: Handle) -> None:
    """Hand the requested calls of a recording to ``handle``, until it raises ScriptDone.

    Raises:
        ProgramError: the file cannot be read, or has none of these calls in full.
    """
    try:
        with FileRun(path) as run:
            run.require_calls()
            for index in wanted(run, requested):
                call = RecordedCall(run, index)
                show_sources(run, call)
                handle(InterceptedCall(call.number, call, partial(names_of, call)))
    except ScriptDone:
        return
    except RecordingError as error:
        raise ProgramError(error.problem, remedy=error.remedy) from None


def first_in_full(path: Path) -> CallSelector:
    """Return the first call that a recording has in full, the first one where it has none.

    Raises:
        ProgramError: the file cannot be read.
    """
    try:
        with FileRun(path) as run:
            run.require_calls()
            call = run.call(run.full[0]) if run.full else None
    except RecordingError as error:
        raise ProgramError(error.problem, remedy=error.remedy) from None
    return CallSelector(1) if call is None else CallSelector(call.number, (call.kind,))


def wanted(run: Run, requested: CallSelector) -> Sequence[int]:
    """Return the calls that are requested and were recorded in full, of which there is one.

    Raises:
        ProgramError, NotRecorded: there is none.
    """
    full = [run.call(index) for index in run.full]
    indices = [call.index for call in full if requested.requests(call.number, call.kind)]
    if indices:
        return indices[-1:] if requested.last else indices
    for call in run.calls():
        if requested.requests(call.number, call.kind):
            raise not_in_full(run, call)
    raise ProgramError("the recording has no such call", remedy=_there_are(full))


def _there_are(full: Sequence[CallFacts]) -> str:
    """Say which calls --call may name."""
    if not full:
        return "it has no call in full: record the program with --values stats, or all"
    names = ["grad:" * (call.kind == "grad") + str(call.number) for call in full]
    more = f", ... {names[-1]}" if len(names) > _MOST + 1 else ""
    shown = names[:_MOST] if more else names
    return f"--call takes {', '.join(shown)}{more}"


_MOST = 10


def show_sources(run: Run, call: RecordedCall) -> None:
    """Have the lines of the program read from the recording, not from files of that name here,
    which may be others."""
    keep_texts(run, {source.file for _, source in call.drawn.sources.items()})


def keep_texts(run: Run, files: Collection[str]) -> None:
    """Have the lines of ``files`` read from the recording, too."""
    for file in sorted(files):
        text = run.source(file) or ""
        lines = [*StringIO(text)]  # as files are read: a form feed ends no line
        linecache.cache[file] = (len(text), None, lines, file)
