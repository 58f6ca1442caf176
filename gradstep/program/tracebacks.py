"""Tracebacks as a program would have them without this one."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from traceback import StackSummary
from types import FrameType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gradstep.graph.model import Source
from gradstep.guest.fence import within_fence
from gradstep.guest.own_files import (
    StackEntry,
    frames_of_program,
    is_of_library,
    is_user_file,
    traceback_of_program,
)

if TYPE_CHECKING:
    from gradstep.findings.as_data import Raised


def user_traceback(error: BaseException, *, into_libraries: bool = True) -> str:
    """Return the traceback of ``error`` as Python prints it, without the frames of this program;
    also without those of PyTorch that end it, unless it is to go ``into_libraries``."""
    shown = traceback.TracebackException.from_exception(error)
    waiting: list[traceback.TracebackException | None] = [shown]
    while waiting:
        trace = waiting.pop()
        if trace is None:
            continue
        trace.stack[:] = frames_of_program(trace.stack)
        while not into_libraries and trace.stack and not is_user_file(trace.stack[-1].filename):
            trace.stack.pop()
        waiting += [trace.__cause__, trace.__context__, *(trace.exceptions or ())]
    bare = not shown.stack and shown.__cause__ is None and shown.__context__ is None
    return "".join(shown.format_exception_only() if bare else shown.format()).rstrip()


def raised_by(error: BaseException) -> Raised:
    """Return an exception as data, with the last line of the program that it came through."""
    places = [
        Source(frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if is_user_file(frame.f_code.co_filename) and not is_of_library(frame.f_code.co_filename)
    ]
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        places.append(Source(error.filename, error.lineno))
    from gradstep.findings.as_data import Raised  # not for every picture

    return Raised(type(error).__name__, str(error), places[-1] if places else None)


def call_hook(hook: Callable[..., object], error: BaseException) -> None:
    """Call a ``sys.excepthook`` of the program's, as Python does at its end."""
    # rebuilt, since Python's own hook and those that defer to it walk the traceback themselves
    place = traceback_of_program(error.__traceback__)
    error = error.with_traceback(place)
    context = error.__context__
    try:
        with our_frames_hidden():
            try:
                raise error
            except BaseException:  # that of IPython asks sys.exc_info(), which is ours else
                error.__context__ = context
                hook(type(error), error.with_traceback(place), place)
    except Exception as problem:
        if sys.stderr is not None:
            _forget(error, problem)
            shown = user_traceback(problem), user_traceback(error)
            sys.stderr.write(
                "Error in sys.excepthook:\n{}\n\nOriginal exception was:\n{}\n".format(*shown)
            )


def _forget(handled: BaseException, problem: BaseException) -> None:
    """Take out of what led to a ``problem`` what was ``handled`` around the hook, as Python, which
    calls it outside of any ``except``, does not."""
    at: BaseException | None = problem
    while at is not None and at.__context__ is not handled:
        at = at.__context__
    if at is not None:
        at.__context__ = None


_Place = tuple[FrameType, Any]  # a frame, and where in it
_P = TypeVar("_P")
_EXTRACT: Final = "_extract_from_extended_frame_gen"


@contextmanager
def our_frames_hidden() -> Iterator[None]:
    """Within it, tracebacks and stacks that the program itself writes or logs have no frames of
    this program: all of them come through one private method, in Python 3.11 to 3.13 at least."""
    extract = vars(StackSummary).get(_EXTRACT)
    if extract is None:
        yield
        return

    def of_program(
        kind: type[StackSummary], frames: Iterable[_Place], /, **options: Any
    ) -> StackSummary:
        given = list(frames)
        shown: Iterable[_Place] = given
        with within_fence("tracebacks without frames of gradstep"):
            shown = list(_kept(given))
        summary: StackSummary = extract.__get__(None, kind)(shown, **options)
        return summary

    setattr(StackSummary, _EXTRACT, classmethod(of_program))
    try:
        yield
    finally:
        setattr(StackSummary, _EXTRACT, extract)


def _kept(places: list[_Place]) -> Iterator[_Place]:
    """Yield those that are not this program's, in the order that is given: that of a traceback, or
    the innermost first."""
    stack = len(places) > 1 and places[0][0].f_back is places[1][0]
    outermost_first = reversed(places) if stack else places
    kept = frames_of_program(
        [StackEntry(place[0].f_code.co_filename, place) for place in outermost_first]
    )
    return (entry.place for entry in (reversed(kept) if stack else kept))
