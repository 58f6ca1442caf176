"""Whether ops build a graph, and whether somebody traces them; per thread and per context.

The usual state, gradients on and nobody watching, is the value None of one context
variable, so that an op pays a single look-up for all modes together.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

P = ParamSpec("P")
R = TypeVar("R")


class Tracer(Protocol):
    """Who is told of every op while tracing is on (see :mod:`autograd_core.dag.trace`)."""

    def op(
        self,
        name: str,
        values: tuple[Any, ...],
        attributes: Mapping[str, Any],
        outputs: tuple[Any, ...],
        node: Any,
    ) -> None:
        """An op ran: its inputs, its attributes, its outputs, and its node if it has one."""

    def module(self, module: Any) -> AbstractContextManager[None]:
        """The scope within which ``module`` computes."""


@dataclass(frozen=True, slots=True)
class Mode:
    """Any state but the usual one."""

    grad: bool = True
    inference: bool = False
    tracer: Tracer | None = None


_mode: ContextVar[Mode | None] = ContextVar("autograd_core_mode", default=None)
current_mode = _mode.get
USUAL = Mode()


def enter_mode(mode: Mode) -> Token[Mode | None]:
    """Make ``mode`` the current one; undo it with :func:`leave_mode`."""
    return _mode.set(None if mode == USUAL else mode)


def leave_mode(token: Token[Mode | None]) -> None:
    """Go back to the mode before the :func:`enter_mode` that gave ``token``."""
    _mode.reset(token)


def is_grad_enabled() -> bool:
    """Whether ops on tensors that require gradients build a graph now."""
    mode = current_mode()
    return mode is None or mode.grad


class _GradMode:
    """Common to the grad modes: a context manager, re-entrant, that is a decorator too."""

    def __init__(self, grad: bool, inference: bool = False) -> None:
        self._grad = grad
        self._inference = inference
        self._tokens: list[Token[Mode | None]] = []

    def __enter__(self) -> None:
        mode = current_mode() or USUAL
        self._tokens.append(enter_mode(Mode(self._grad, self._inference, mode.tracer)))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        leave_mode(self._tokens.pop())

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        grad, inference = self._grad, self._inference

        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            with _GradMode(grad, inference):
                return function(*args, **kwargs)

        return wrapper


class no_grad(_GradMode):
    """Ops inside build no graph; a context manager and a decorator.

    >>> with no_grad():
    ...     is_grad_enabled()
    False
    """

    def __init__(self) -> None:
        super().__init__(grad=False)


class enable_grad(_GradMode):
    """Ops inside build a graph again, within :class:`no_grad`."""

    def __init__(self) -> None:
        super().__init__(grad=True)


class set_grad_enabled(_GradMode):
    """Turn graph building on or off, at once; as a context manager also back again."""

    def __init__(self, mode: bool) -> None:
        super().__init__(grad=mode)
        self._before = _mode.get()
        usual = self._before or USUAL
        enter_mode(Mode(mode, usual.inference, usual.tracer))

    def __enter__(self) -> None:
        pass  # already on since the call, as in PyTorch

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _mode.set(self._before)
