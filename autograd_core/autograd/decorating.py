"""Context managers that decorate functions, too; generator functions step by step."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import wraps
from inspect import isclass, isgeneratorfunction
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from autograd_core.own_files import warn

P = ParamSpec("P")
R = TypeVar("R")


class DecoratingContext:
    """A context manager that is a decorator, too: each call enters a copy of it."""

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        raise NotImplementedError

    def clone(self) -> Self:
        """Return another one like this."""
        return type(self)()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        if isclass(function):
            warn(
                "Decorating classes is deprecated and will be disabled in future versions. You "
                "should only decorate functions or methods. To preserve the current behavior of "
                "class decoration, you can directly decorate the `__init__` method and nothing "
                "else.",
                FutureWarning,
            )
        if isgeneratorfunction(function):
            in_steps: Callable[P, R] = _in_steps(self.clone, function)
            return in_steps
        return self._decorated(function)

    def _decorated(self, function: Callable[P, R]) -> Callable[P, R]:
        """Return ``function``, run within a copy of this."""

        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            with self.clone():
                return function(*args, **kwargs)

        return wrapper


def _in_steps(context: Callable[[], Any], function: Any) -> Any:
    """Return ``function``; its generators run within ``context`` whenever they run, only then."""

    @wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        steps: Generator[Any, Any, Any] = function(*args, **kwargs)
        resume: Callable[..., Any] = steps.send
        given: Any = None
        while True:
            try:
                with context():
                    value = resume(given)
            except StopIteration as end:
                return end.value
            try:
                resume, given = steps.send, (yield value)
            except GeneratorExit:
                with context():
                    steps.close()
                raise
            except BaseException as error:  # thrown at us for the generator
                resume, given = steps.throw, error

    return wrapper
