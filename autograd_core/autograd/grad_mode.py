"""Whether ops build a graph, and whether somebody traces them; per thread and per context.

The usual state, gradients on and nobody watching, is the value None of one context
variable, so that an op pays a single look-up for all modes together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from dataclasses import dataclass, replace
from functools import wraps
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol, Self, overload

from autograd_core.autograd.decorating import DecoratingContext, P, R
from autograd_core.autograd.undo_log import UndoLog

Line = tuple[str, int]  # file and number
# How a view was made; changes of it in place are checked accordingly: "usual" in a graph, "several"
# as one of many at once, "function" by a custom Function, or where no graph was built.
Creation = Literal["usual", "several", "function", "no_grad", "inference"]


class Tracer(Protocol):
    """Receives a call for every op while tracing is on."""

    def op(
        self,
        name: str,
        values: tuple[Any, ...],
        attributes: Mapping[str, Any],
        outputs: tuple[Any, ...],
        node: Any,
    ) -> None:
        """Note that an op ran: its inputs, attributes, outputs, and its node if it has one."""

    def in_place(self, tensor: Any) -> None:
        """Note that the op that ran last has changed ``tensor``, which is its result now."""

    def through_view(self, base: Any, view: Any, node: Any) -> None:
        """Note that an op has changed ``base`` by changing ``view``; ``node`` is its new place."""

    def function(self, node: Any, function: Any, arguments: tuple[Any, ...]) -> None:
        """Note that a custom Function is about to run, and may change its arguments."""

    def cut(self, how: str, before: Any, after: Any) -> None:
        """Note that ``after`` is ``before`` without its graph, by a call of ``how``."""

    def taken_out(self, how: str, tensor: Any) -> None:
        """The data of ``tensor`` was handed out, to NumPy or as Python numbers, which know no
        gradients, by a call of ``how``."""

    def from_numpy(self, how: str, tensor: Any) -> None:
        """Note that ``tensor`` was made from an array, by a call of ``how``."""

    def line(self) -> Line | None:
        """Return the line of the program that runs now."""

    def changing(self, tensor: Any) -> Line | None:
        """Note that ``tensor`` is about to be changed in place; return the line that runs now."""

    def settle(self) -> None:
        """Process what was noted so far, before it is read or changes."""

    def passed(self, line: Line) -> None:
        """Note that the backward pass begun at ``line`` has freed its graph."""

    def module(self, module: Any) -> AbstractContextManager[None]:
        """Return the scope within which ``module`` computes."""


class Profiler(Protocol):
    """Measures the time of ops and nodes (see :mod:`autograd_core.autograd.profiler`)."""

    def begin(self) -> None:
        """Note that an op begins to compute."""

    def op(self, outputs: Sequence[Any], node: Any) -> None:
        """Note that the op has ended."""

    def made(self, outputs: Sequence[Any], node: Any, began: float) -> None:
        """Note what a custom Function has made since ``began``."""

    def run(self, task: Any) -> None:
        """Run a backward pass, node by node."""


class Anomaly(NamedTuple):
    """Anomaly mode: whether it looks for NaN, and what it does with every new node."""

    check_nan: bool
    keep_traceback: Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Mode:
    """Any state but the usual one."""

    grad: bool = True
    inference: bool = False
    tracer: Tracer | None = None
    profiler: Profiler | None = None
    # (pack, unpack) around every saved tensor; or why such hooks may not be set now
    saved_hooks: tuple[Callable[[Any], Any], Callable[[Any], Any]] | None = None
    saved_hooks_refused: str = ""
    anomaly: Anomaly | None = None
    undo_log: UndoLog | None = None  # told of what is about to change, so that it can be undone

    @property
    def builds(self) -> bool:
        """Whether ops build a graph: not in inference mode, not even where gradients are on."""
        return self.grad and not self.inference

    @property
    def creation(self) -> Creation:
        """How views are made in this mode."""
        return "usual" if self.builds else "inference" if self.inference else "no_grad"


_mode: ContextVar[Mode | None] = ContextVar("autograd_core_mode", default=None)
current_mode = _mode.get
USUAL = Mode()
WITHOUT_GRADIENTS = Mode(grad=False)  # the only other one that most programs know


def enter_mode(mode: Mode) -> Token[Mode | None]:
    """Make ``mode`` the current one; undo it with :func:`leave_mode`."""
    usual = mode is USUAL or (mode is not WITHOUT_GRADIENTS and mode == USUAL)
    return _mode.set(None if usual else mode)


def leave_mode(token: Token[Mode | None]) -> None:
    """Go back to the mode before the :func:`enter_mode` that gave ``token``."""
    _mode.reset(token)


def with_gradients(on: bool) -> Mode:
    """Return the current mode, with gradients on or off."""
    mode = current_mode()
    if mode is None:
        return USUAL if on else WITHOUT_GRADIENTS
    return mode if mode.grad is on else replace(mode, grad=on)


def quiet(mode: Mode) -> Mode:
    """Return ``mode`` with gradients off, and without a tracer."""
    if (
        mode.inference
        or mode.saved_hooks_refused
        or mode.saved_hooks is not None
        or mode.profiler is not None
        or mode.anomaly is not None
        or mode.undo_log is not None
    ):
        return replace(mode, grad=False, tracer=None)
    return WITHOUT_GRADIENTS  # at once, as nearly always: a copy takes 3 us


def trace_cut(how: str, before: Any, after: Any) -> None:
    """Tell whoever traces that ``after`` is ``before`` without its graph, by a call of ``how``."""
    if (traces := tracer()) is not None:
        traces.cut(how, before, after)


def trace_taken_out(how: str, tensor: Any) -> None:
    """Tell whoever traces that the data of ``tensor`` was handed out, by a call of ``how``."""
    if (traces := tracer()) is not None:
        traces.taken_out(how, tensor)


def settle() -> None:
    """Let the tracer process what it noted so far: see :meth:`Tracer.settle`."""
    if (traces := tracer()) is not None:
        traces.settle()


def tracer() -> Tracer | None:
    """Return the tracer of this mode, None without one."""
    mode = current_mode()
    return None if mode is None else mode.tracer


def undo_log() -> UndoLog | None:
    """Return the log that is told before something changes, None without one."""
    mode = current_mode()
    return None if mode is None else mode.undo_log


def is_grad_enabled() -> bool:
    """Return whether grad mode is on."""
    mode = current_mode()
    return mode is None or mode.grad


def builds_graph() -> bool:
    """Return whether ops on tensors that require gradients build a graph now."""
    mode = current_mode()
    return mode is None or mode.builds


def is_inference_mode_enabled() -> bool:
    """Return whether this code runs within :class:`inference_mode`."""
    mode = current_mode()
    return mode is not None and mode.inference


class _GradMode(DecoratingContext):
    """Common to the grad modes; one can be nested in itself."""

    def __init__(self) -> None:
        self._before: list[Mode | None] = []

    def _inside(self) -> Mode:
        """Return what this makes of the mode around it."""
        raise NotImplementedError

    def __enter__(self) -> None:
        self._before.append(current_mode())
        enter_mode(self._inside())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _mode.set(self._before.pop())  # not by a token: it may belong to another context

    def _decorated(self, function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            before = current_mode()  # to make and enter a copy takes three times as long
            enter_mode(self._inside())
            try:
                return function(*args, **kwargs)
            finally:
                _mode.set(before)

        return wrapper


class _GradModeWithoutParameters(_GradMode):
    """One that decorates without parentheses, too."""

    @overload
    def __new__(cls, orig_func: Callable[P, R]) -> Callable[P, R]: ...  # type: ignore[misc]
    @overload
    def __new__(cls, orig_func: None = None) -> Self: ...
    def __new__(cls, orig_func: Any = None) -> Any:
        return super().__new__(cls) if orig_func is None else cls()(orig_func)


class no_grad(_GradModeWithoutParameters):
    """A context manager and decorator in which ops build no graph.

    A decorated generator function is in this mode while it runs, and leaves it at every ``yield``.

    >>> import autograd_core as torch
    >>> with torch.no_grad():
    ...     torch.is_grad_enabled()
    False
    """

    def _inside(self) -> Mode:
        return with_gradients(False)


class enable_grad(_GradModeWithoutParameters):
    """A context manager and decorator in which ops build a graph again, for use inside
    :class:`no_grad`."""

    def _inside(self) -> Mode:
        return with_gradients(True)


class inference_mode(_GradMode):
    """Like :class:`no_grad`, for code whose results will never be part of a graph.

    Args:
        mode: False ends inference mode inside; a function is decorated directly.
    """

    @overload
    def __new__(cls, mode: Callable[P, R]) -> Callable[P, R]: ...  # type: ignore[misc]
    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = mode

    def clone(self) -> Self:
        return type(self)(self.mode)

    def _inside(self) -> Mode:
        return replace(current_mode() or USUAL, grad=not self.mode, inference=self.mode)


class set_multithreading_enabled:
    """Do nothing, for compatibility with PyTorch: a backward pass always runs in the calling
    thread."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


class set_grad_enabled(_GradMode):
    """Turn graph building on or off immediately; as a context manager, restore it at the end."""

    def __init__(self, mode: bool) -> None:
        super().__init__()
        self.mode = mode
        self._at_first = current_mode()
        enter_mode(self._inside())

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def clone(self) -> Self:
        return type(self)(self.mode)

    def _inside(self) -> Mode:
        return with_gradients(self.mode)

    def __enter__(self) -> None:
        enter_mode(self._inside())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _mode.set(self._at_first)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        _mode.set(self._at_first)  # a decorator changes nothing but the function
        return super().__call__(function)
