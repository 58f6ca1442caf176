"""The keyword wrapper: PyTorch's keywords, for all functions that users call.

A wrapper of ``*args, **keywords`` costs as much as half an op.  So each is text with the
parameters of its function, as the code of ops is (see ``op.generate``), made when it is first
called; a call whose keywords are the function's own costs one more frame.  The others, ``out``,
``device``, and the names that NumPy has for arguments, take the slow path, :func:`_by_name`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache, partial, update_wrapper
from inspect import Parameter, signature
from types import CodeType
from typing import Any, Final, NamedTuple, TypeVar, cast

from autograd_core.dtype import bool_, dtype, float64, int64
from autograd_core.op.out import check_dtype, check_out, choose_dtype, kind_of, stored
from autograd_core.op.record import OutOption
from autograd_core.random import drawing_from
from autograd_core.tensor.device import check_device

F = TypeVar("F", bound=Callable[..., Any])

ABSENT: Final = object()
_FIRST: Final = compile(
    "def call(*args, **keywords): return first(call, function)(*args, **keywords)",
    "<op first call by keywords>",
    "exec",
)
# What changes nothing here: there is one layout, one device and no other memory.
_WITHOUT_EFFECT: Final = (
    "layout", "pin_memory", "memory_format", "non_blocking", "sparse_grad", "driver",
)  # fmt: skip
_PYTHON: Final[dict[type, dtype]] = {float: float64, int: int64, bool: bool_}
_NUMPY: Final = {"axis": "dim", "keepdims": "keepdim"}
# What a function's own first and second arguments may be called, by PyTorch and by NumPy.
_FIRST_WORDS: Final = ("input", "self", "a", "A", "x", "x1")
_SECOND_WORDS: Final = ("other", "x2")


def torch_form(function: F, out: OutOption = "", named: type[Any] | None = None) -> F:
    """Return ``function`` with PyTorch's keywords; ``out`` says what it takes as such, ``named``
    which tuple its results become."""
    by_name = partial(_by_name, out, named)
    namespace: dict[str, Any] = {"function": function, "first": _first, "by_name": by_name}
    namespace["named"] = named
    exec(_FIRST, namespace)
    call: Any = update_wrapper(namespace["call"], function)
    return cast(F, call)


def _first(call: Any, function: Callable[..., Any]) -> Any:
    """Put the real code in place of the one that led here; the function stays the same."""
    parameters = signature(function).parameters.values()
    namespace = call.__globals__
    defaults = {f"default_{p.name}": p.default for p in parameters if not _required(p)}
    namespace.update(defaults, ABSENT=ABSENT, given=_given, dtype_type=dtype)
    exec(_compiled(_text(list(parameters), bool(namespace["named"]))), namespace)
    compiled, namespace["call"] = namespace["call"], call
    call.__code__ = compiled.__code__
    call.__defaults__, call.__kwdefaults__ = compiled.__defaults__, compiled.__kwdefaults__
    return call


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "<op call by keywords>", "exec")


def _text(parameters: list[Parameter], named: bool) -> str:
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        return (
            "def call(*args, **keywords):\n"
            "    if keywords: return by_name(function, args, keywords)\n"
            "    return function(*args)\n"
        )
    named_only = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    placed = [p for p in parameters if p.kind is not p.KEYWORD_ONLY]
    head = [f"{p.name}={'ABSENT' if _required(p) else f'default_{p.name}'}" for p in parameters]
    if named_only:
        head.insert(len(placed), "*")
    tests = ["keywords", *(f"{p.name} is ABSENT" for p in parameters if _required(p))]
    if any(p.name == "dtype" for p in parameters):  # may be Python's type, or no dtype at all
        tests.append("dtype is not None and type(dtype) is not dtype_type")
    values = ", ".join(f"({p.name!r}, {p.name}, {_default(p)})" for p in parameters)
    passed = [p.name for p in placed] + [f"{p.name}={p.name}" for p in named_only]
    return (
        f"def call({', '.join([*head, '**keywords'])}):\n"
        f"    if {' or '.join(tests)}: return by_name(function, (), given([{values}], keywords))\n"
        f"    return {'named._make(' if named else '('}function({', '.join(passed)}))\n"
    )


def _required(parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty


def _default(parameter: Parameter) -> str:
    return "ABSENT" if _required(parameter) else f"default_{parameter.name}"


def _given(values: Iterable[tuple[str, Any, Any]], keywords: dict[str, Any]) -> dict[str, Any]:
    """Return what was given by name or place, and by unknown names."""
    return {name: value for name, value, default in values if value is not default} | keywords


class _Form(NamedTuple):
    """What a function takes: its own names, and which of them others stand for."""

    own: frozenset[str]
    others: Mapping[str, str]
    places: tuple[str, ...]  # those that may be given without their names, in order
    variadic: str  # the one of them, if any, that takes all further arguments
    open: bool  # whether it takes any keyword


@lru_cache(maxsize=1024)
def _form(function: Callable[..., Any]) -> _Form:
    parameters = list(signature(function).parameters.values())
    several = (p.name for p in parameters if p.kind is Parameter.VAR_POSITIONAL)
    variadic = "" if hasattr(function, "op") else next(several, "")  # entries take a list
    named = (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD)
    places = tuple(p.name for p in parameters if p.kind not in named)
    own = frozenset(p.name for p in parameters)
    others = {theirs: ours for theirs, ours in _NUMPY.items() if ours in own}
    if places:
        others |= dict.fromkeys(_FIRST_WORDS, "self" if "self" in own else places[0])
    if len(places) > 1:
        others |= dict.fromkeys(_SECOND_WORDS, "other" if "other" in own else places[1])
    return _Form(
        own,
        {theirs: ours for theirs, ours in others.items() if theirs not in own},
        places,
        variadic,
        any(p.kind is Parameter.VAR_KEYWORD for p in parameters),
    )


def _by_name(
    takes: OutOption, named: Any, function: Callable[..., Any], args: Any, keywords: dict[str, Any]
) -> Any:
    """Call ``function`` with keywords of which some are not its own."""
    form, name = _form(function), function.__name__
    given: dict[str, Any] = {}
    later: dict[str, Any] = {}
    for word, given_value in keywords.items():
        own = form.others.get(word, word)
        value = _dtype(name, given_value) if word == "dtype" else given_value
        if own in given:
            raise TypeError(f"{name}() got multiple values for argument '{own}'")
        if own in form.own:
            given[own] = value
        elif word in ("out", "requires_grad", "generator"):
            later[word] = value
        elif word == "device":
            check_device(value)
        elif word in _WITHOUT_EFFECT:
            continue
        elif form.open:
            given[own] = value
        else:
            raise TypeError(f"{name}() got an unexpected keyword argument '{word}'")
    if form.variadic in given:
        rest = given.pop(form.variadic)
        first = [given.pop(name) for name in form.places[len(args) :] if name in given]
        args = (*args, *first, *(rest if isinstance(rest, (tuple, list)) else (rest,)))
    out = later.get("out")
    if out is not None:
        kind = kind_of(takes, given)
        check_out(name, kind, out, args, given)
        if "dtype" in form.own:
            choose_dtype(kind, out, given)
    with drawing_from(later.get("generator")):
        result = function(*args, **given)
        result = named._make(result) if named else result
    if later.get("requires_grad"):
        result.requires_grad_()
    if out is None:
        return result
    check_dtype(kind, result, out)
    return stored(kind, result, out)


def _dtype(name: str, value: Any) -> dtype | None:
    """Return a dtype, which may be given as Python's type."""
    kind = _PYTHON.get(value, value) if isinstance(value, type) else value
    if kind is not None and not isinstance(kind, dtype):
        raise TypeError(
            f"{name}(): argument 'dtype' must be torch.dtype, not {type(kind).__name__}"
        )
    return kind
