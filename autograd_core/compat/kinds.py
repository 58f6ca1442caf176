"""The kinds of stub: functions that return a constant, do nothing, decorate, or raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Names = dict[str, Any]


def _named(names: str, doc: str, make: Callable[[], Callable[..., Any]]) -> Names:
    """Return one function for each of ``names``, which are separated by spaces."""
    stubs: Names = {}
    for name in names.split():
        call = make()
        call.__name__ = call.__qualname__ = name
        call.__doc__ = doc
        stubs[name] = call
    return stubs


def always(value: Any, names: str) -> Names:
    """Return functions that ignore their arguments and return ``value``."""
    return _named(names, f"Return {value!r}.", lambda: lambda *args, **kwargs: value)


def nothing(names: str) -> Names:
    """Return functions that do nothing."""
    return _named(names, "Do nothing.", lambda: lambda *args, **kwargs: None)


def unchanged(names: str) -> Names:
    """Decorators that hand back the function, with options in parentheses or without."""

    def decorate(target: Any = None, *args: Any, **options: Any) -> Any:
        if callable(target) or isinstance(target, str):
            return target
        return lambda function: function

    def make() -> Callable[..., Any]:
        return lambda *args, **options: decorate(*args, **options)

    return _named(names, "Return the function as it is, as a call or as a decorator.", make)


def refused(error: Exception, names: str) -> Names:
    """Return functions that raise ``error``."""

    def make() -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            raise type(error)(*error.args)

        return call

    return _named(names, f"Raise {type(error).__name__}: {error}", make)


def setting(get: str, set_: str, value: Any, check: Callable[[Any], bool] | None = None) -> Names:
    """Return a getter and a setter of a value without effect; ``check`` says whether to keep it."""
    kept = [value]

    def assign(new: Any, **options: Any) -> None:
        if check is None or check(new):
            kept[0] = new

    getter = _named(get, f"Return the value, which is {value!r} at first.", lambda: lambda: kept[0])
    return getter | _named(set_, "Keep a value that changes nothing.", lambda: assign)
