"""The fence around our own work in a user's program: an error of ours is told, and the program goes
on as if nobody looked."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache, wraps
from pathlib import Path
from traceback import extract_tb, walk_tb
from types import CodeType, MappingProxyType, TracebackType
from typing import Any, Final, TypeVar, cast

from gradstep.guest.own_files import is_own_file
from gradstep.records import BackwardCall

T = TypeVar("T")
_F = TypeVar("_F", bound=Callable[..., Any])


def tell(problem: str) -> None:
    """Tell the user of something that is not as expected."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # the program has closed it
            sys.stderr.write(f"gradstep: {problem}\n")


class CannotObserve(Exception):
    """What of the program's would run in another way if it were observed, and why."""


def not_shown(what: str, error: Exception) -> None:
    """Tell the user, once, that ``what`` is not shown because of an error of ours, or because it
    cannot be observed.

    Raises:
        Exception: ``error``, where it is the program's.

    >>> not_shown("the names of tensors", KeyError("weight"))  # on stderr
    """
    global _failures
    let_through(error)
    _failures += 1
    frames = extract_tb(error.__traceback__)
    where = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:_LONGEST]
    text = f"not shown: {what}, by a bug in gradstep{where}; please report it ({reason})"
    if isinstance(error, CannotObserve):
        text = f"not shown: {error}"
    if text not in _told and len(_told) < _MOST:
        _told.add(text)
        tell(text)


def let_through(error: Exception) -> None:
    """Raise ``error`` again where a signal handler of the program's raised it."""
    if is_from_signal_handler(error):
        raise error


def is_from_signal_handler(error: BaseException) -> bool:
    """Return whether a signal handler of the program's raised ``error``: it may run wherever we
    are, and what it raises is meant for the program."""
    codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
    theirs = [code for code in codes if not is_own_file(code.co_filename)]
    if not theirs:  # as nearly always: to ask for all handlers takes as long as a small call
        return False
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    return any(_code_of(handler) in theirs for handler in handlers if callable(handler))


def _code_of(function: Any) -> CodeType | None:
    """Return the code that runs where ``function`` is called, None of one of C."""
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return code if isinstance(code, CodeType) else None


def tell_anew() -> None:
    """Forget what failed in an earlier run."""
    _told.clear()


def has_failed() -> bool:
    """Return whether something was not shown, by a defect of ours."""
    return bool(_told)


class NewFailures:
    """Tells whether something was not shown, by a defect of ours, since that was last noted: what
    is known of that time is not all."""

    def __init__(self) -> None:
        self._known = _failures

    def __bool__(self) -> bool:
        return _failures > self._known

    def noted(self) -> bool:
        """Return whether there are some, and take note of them."""
        some, self._known = bool(self), _failures
        return some

    def told_soon(self) -> None:
        """Take note of one that is about to be told, and belongs to what has been asked about."""
        self._known += 1


_failures = 0
_LONGEST: Final = 300
_MOST: Final = 100
"""Different ones; what fails in another way each time would fill the user's screen."""
_told: Final[set[str]] = set()


def fenced(what: str, otherwise: Any = None) -> Callable[[_F], _F]:
    """Make of a function one that gives ``otherwise`` where it fails, and tells that ``what`` is
    not shown.

    >>> @fenced("half of a number", 0)
    ... def half(number):
    ...     return number / 2
    >>> half(6.0), half("six")
    (3.0, 0)
    """

    def fence(function: _F) -> _F:
        @wraps(function)
        def inside(*given: Any, **named: Any) -> Any:
            try:
                return function(*given, **named)
            except Exception as error:
                not_shown(what, error)
                return otherwise

        return cast("_F", inside)

    return fence


class within_fence:
    """End what is done inside where it fails, and tell that ``what`` is not shown; no generator,
    which takes as long to enter as a small op."""

    __slots__ = ("_what",)

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception) or is_from_signal_handler(error):
            return False
        not_shown(self._what, error)
        return True


class fenced_context:
    """Within it, a context is entered if that works: where entering or leaving it fails, tell that
    ``what`` is not shown.

    >>> from contextlib import nullcontext
    >>> with fenced_context("nothing", nullcontext()):
    ...     pass
    """

    __slots__ = ("_context", "_entered", "_what")

    def __init__(self, what: str, context: AbstractContextManager[object]) -> None:
        self._what, self._context, self._entered = what, context, False

    def __enter__(self) -> None:
        with within_fence(self._what):
            self._context.__enter__()
            self._entered = True

    def __exit__(self, *error: Any) -> None:
        if self._entered:
            with within_fence(self._what):
                self._context.__exit__(*error)


class CallRun:
    """What has become of a call of ``backward`` or ``grad`` that an engine was not given at once.

    An error that is none of ``errors``, and none that is to be told ``apart``, is ours.

    Attributes:
        roots: those of the call.
        begun, over: how far the engine itself is.
        errors: what nodes and hooks have raised.
        finish: make what is left of a pass that has begun; None where that cannot be.
        release, gradients: free what a plain call frees, and return what it returns.
    """

    __slots__ = ("apart", "begun", "errors", "finish", "gradients", "over", "release", "roots")

    def __init__(self, roots: object, apart: tuple[type[Exception], ...] = ()) -> None:
        self.roots, self.apart = roots, apart
        self.begun = self.over = False
        self.errors: list[BaseException] = []
        self.finish: Callable[[], object] | None = None
        self.release: Callable[[], object] = tuple
        self.gradients: Callable[[], Any] = tuple

    def forget(self) -> None:
        """Keep nothing of a call that is answered: threads live on that began within it."""
        self.roots, self.errors, self.finish = None, [], None
        self.release = self.gradients = tuple

    def undone(self) -> None:
        """Note that all is as it was before the engine began."""
        self.begun = self.over = False

    def is_ours(self, error: BaseException) -> bool:
        """Return whether an error came of what was done around the pass."""
        apart = isinstance(error, self.apart) or not isinstance(error, Exception)
        if apart or any(error is known for known in self.errors):
            return False
        return not is_from_signal_handler(error)


call_run: ContextVar[CallRun | None] = ContextVar("gradstep_call_run", default=None)


def run_of(roots: object) -> CallRun | None:
    """Return what is noted of the call with these ``roots``, None where nothing is."""
    run = call_run.get()
    return run if run is not None and run.roots is roots else None


def raised(error: BaseException) -> None:
    """Note that a node or a hook of the program's raised."""
    run = call_run.get()
    if run is not None:
        run.errors.append(error)


@contextmanager
def by_program() -> Iterator[None]:
    """Note that what is raised inside is the program's."""
    try:
        yield
    except Exception as error:
        raised(error)
        raise


def carried_out(run: Callable[[], T]) -> T:
    """Return what the engine itself makes of the call that is to be answered."""
    noted = call_run.get()
    if noted is None:
        return run()
    noted.begun = True
    try:
        result = run()
    except Exception as error:
        raised(error)
        raise
    noted.over, noted.gradients = True, lambda: result
    return result


def is_ours(error: BaseException) -> bool:
    """Return whether an error came of what was done around the pass that runs."""
    run = call_run.get()
    return run is not None and run.is_ours(error)


def answered(
    call: BackwardCall,
    carry_out: Callable[[], bool | T],
    what: str,
    *,
    apart: tuple[type[Exception], ...] = (),
) -> bool | T:
    """Return what ``carry_out`` answers to ``call``: the gradients of one of ``grad``, True of one
    of ``backward``, False where it is still to be made.

    An error of ours is told; after it the call is as it would be plainly, unless half of it was
    done, so that it cannot be made again.

    Raises:
        Exception: the program's, or one of those that are to be told ``apart``.
    """
    arguments = getattr(call, "arguments", None)  # in PyTorch's own words
    noted = CallRun(call.roots if arguments is None else arguments.outputs, apart)
    token = call_run.set(noted)
    try:
        try:
            return carry_out()
        except Exception as error:
            if not noted.is_ours(error) or (noted.begun and not noted.over and not noted.finish):
                raise
            not_shown(what, error)
        # not in there, or the program's own errors would come "during the handling" of ours
        if not noted.begun:
            return False
        if not noted.over and noted.finish is not None:
            noted.finish()
        noted.release()
        gradients: T = noted.gradients()
        return gradients if call.is_grad else True
    finally:
        call_run.reset(token)
        noted.forget()


def read(entries: Callable[[], Iterable[T]]) -> Iterator[T]:
    """Yield what ``entries`` reads from an object of the program's, as far as that can be read: one
    that is half built, or stands for another, may raise whatever it likes.

    >>> list(read(lambda: (1 / number for number in (2, 1, 0, 5))))
    [0.5, 1.0]
    """
    try:
        yield from entries()
    except Exception as error:
        let_through(error)
        return


def class_has(value: object, *names: str) -> bool:
    """Return whether the class of an object of the program's has all of these attributes; the
    ``__getattr__`` of the object itself may do anything."""
    try:
        return _has(cast("Hashable", type(value)), names)
    except Exception as error:  # a metaclass may do so, too
        let_through(error)
        return False


@lru_cache(maxsize=1024)
def _has(kind: object, names: tuple[str, ...]) -> bool:
    """Remember it: the same few kinds are asked for every variable of a program at each call."""
    return all(hasattr(kind, name) for name in names)


def attribute_of(value: object, name: str) -> Any:
    """Return an attribute of an object of the program's, None where there is none to be had."""
    try:
        return getattr(value, name, None)
    except Exception as error:
        let_through(error)
        return None


def text_of(value: object) -> str:
    """Return the ``repr`` of an object of the program's, that of its class where it has none."""
    try:
        return repr(value)
    except Exception as error:
        let_through(error)
        return f"<{type(value).__name__}>"


def variables_in(value: object) -> Mapping[str, Any]:
    """Return what an object of the program's, or a class, has in its dictionary; nothing of one
    without.

    Its class is not asked, which may do anything; some that have a dictionary do not show it.
    """
    try:
        attributes = object.__getattribute__(value, "__dict__")
    except Exception as error:
        let_through(error)
        return {}
    return attributes if isinstance(attributes, dict | MappingProxyType) else {}
