"""A function in front of another: with its parameters, so that a call costs little more.

A wrapper of ``*args, **keywords`` costs as much as half an op.  What stands here is text, as the
code of ops is (see ``op.generate``), and is made when the function is first called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, update_wrapper
from inspect import Parameter, signature
from types import CodeType
from typing import Any, Final

Named = Callable[[Callable[..., Any], tuple[Any, ...], dict[str, Any]], Any]

ABSENT: Final = object()
_FIRST: Final = compile(
    "def call(*args, **keywords): return first(call, function)(*args, **keywords)",
    "<op first call in front>",
    "exec",
)


def in_front(function: Callable[..., Any], named: Named) -> Callable[..., Any]:
    """A function that calls ``function``, unless it is given keywords that ``function`` does not
    know, or lacks arguments; then it calls ``named(function, args, keywords)``."""
    namespace: dict[str, Any] = {"function": function, "first": _first, "named": named}
    exec(_FIRST, namespace)
    call: Callable[..., Any] = update_wrapper(namespace["call"], function)
    return call


def _first(call: Any, function: Callable[..., Any]) -> Any:
    """Put the real code in place of the one that led here; the function stays the same."""
    parameters = signature(function).parameters.values()
    namespace = call.__globals__
    defaults = {f"default_{p.name}": p.default for p in parameters if not _required(p)}
    namespace.update(defaults, ABSENT=ABSENT, given=_given)
    exec(_compiled(_text(list(parameters))), namespace)
    made, namespace["call"] = namespace["call"], call
    call.__code__ = made.__code__
    call.__defaults__, call.__kwdefaults__ = made.__defaults__, made.__kwdefaults__
    return call


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "<op call in front>", "exec")


def _text(parameters: list[Parameter]) -> str:
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or p.name == "dtype" for p in parameters):
        return (
            "def call(*args, **keywords):\n"
            "    if keywords: return named(function, args, keywords)\n"
            "    return function(*args)\n"
        )
    named_only = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    placed = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
    head = [f"{p.name}={'ABSENT' if _required(p) else f'default_{p.name}'}" for p in parameters]
    if named_only:
        head.insert(len(placed), "*")
    unknown = " or ".join(
        ["keywords", *(f"{p.name} is ABSENT" for p in parameters if _required(p))]
    )
    values = ", ".join(f"({p.name!r}, {p.name}, {_default(p)})" for p in parameters)
    passed = [p.name for p in placed] + [f"{p.name}={p.name}" for p in named_only]
    return (
        f"def call({', '.join([*head, '**keywords'])}):\n"
        f"    if {unknown}: return named(function, (), given([{values}], keywords))\n"
        f"    return function({', '.join(passed)})\n"
    )


def _required(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty


def _default(parameter: Parameter) -> str:
    return "ABSENT" if _required(parameter) else f"default_{parameter.name}"


def _given(values: Iterable[tuple[str, Any, Any]], keywords: dict[str, Any]) -> dict[str, Any]:
    """What was given by name or place, and by unknown names."""
    return {name: value for name, value, default in values if value is not default} | keywords
