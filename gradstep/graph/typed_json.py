"""Values that were read from JSON, or from a table: made and checked by the types of their fields.

A record is a list of its fields, or an object of those that it knows. In the place of one that may
be None, a list may begin with None.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache, partial
from inspect import Parameter, signature
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

T = TypeVar("T")
Read = Callable[[Any], Any]
"""Makes a value of what was read."""
_LISTS: Final = (list, tuple)
_NOT_FINITE: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
"""What stands for these numbers: JSON has none, and SQLite lacks NaN."""


class Unfit(ValueError):
    """A value is not what is meant to be at its ``place``: ``nodes[3].shape``."""

    def __init__(self, problem: str, place: str = "") -> None:
        super().__init__(f"{place.removeprefix('.')}: {problem}" if place else problem)
        self.problem, self.place = problem, place

    def inside(self, place: str) -> Unfit:
        """Return the same of a value that is inside of one at ``place``."""
        return Unfit(self.problem, f"{place}{self.place}")


def typed(kind: type[T], known: Any) -> T:
    """Return what was read, of this kind."""
    if type(known) is not kind:
        raise Unfit(f"expected {kind.__name__}, found {type(known).__name__}")
    return known


def value_of(kind: type[T], known: Any) -> T:
    """Return a value of this type.

    >>> from gradstep.graph.model import Source
    >>> value_of(Source, ["train.py", 3]), value_of(Source, {"file": "train.py", "line": 3})
    (Source(file='train.py', line=3), Source(file='train.py', line=3))
    >>> value_of(Source, ["train.py", -3])
    Traceback (most recent call last):
    gradstep.graph.typed_json.Unfit: line: -3 stands where something is counted
    """
    value: T = reader(kind)(known)  # type: ignore[arg-type]  # classes are hashable
    return value


@cache
def reader(kind: Any) -> Read:
    """Return what reads values of a type."""
    origin, inside = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if origin is Literal:
        return partial(_one_of, inside)
    if origin is Annotated:  # a number that counts nothing
        return partial(typed, int)
    if origin in (Union, UnionType):
        (some,) = [each for each in inside if each is not NoneType]
        read = reader(some)
        if _is_record(some):
            return lambda known: None if _is_nothing(known) else read(known)
        return lambda known: None if known is None else read(known)
    if origin in (tuple, list, frozenset):
        read = reader(inside[0])
        return lambda known: origin(_items(read, known))
    if origin is not None:  # a mapping, whose keys are text in JSON
        of_key, read = inside[0], reader(inside[1])
        return lambda known: {of_key(key): read(one) for key, one in typed(dict, known).items()}
    if _is_record(kind):
        return Fields(kind).record
    return partial(typed, kind)


def _is_record(kind: Any) -> bool:
    return hasattr(kind, "_fields") or is_dataclass(kind)


def _is_nothing(known: Any) -> bool:
    return known is None or bool(type(known) in _LISTS and known and known[0] is None)


def _list(known: Any) -> Sequence[Any]:
    return known if type(known) in _LISTS else typed(list, known)


def _count(known: Any) -> int:
    if type(known) is int and known >= 0:  # as nearly always
        return known
    raise Unfit(f"{typed(int, known)} stands where something is counted")


def _number(known: Any) -> float:
    if type(known) is float:  # as nearly always
        return known
    if type(known) is str and known in _NOT_FINITE:
        return _NOT_FINITE[known]
    return float(known if type(known) is int else typed(float, known))


def _one_of(words: Collection[str], known: Any) -> Any:
    if known not in words:
        raise Unfit(f"{known!r} is none of {', '.join(words)}")
    return known


def _items(read: Read, known: Any) -> list[Any]:
    items = _list(known)
    try:
        return [read(item) for item in items]
    except Unfit:
        for at, item in enumerate(items):
            try:
                read(item)
            except Unfit as error:
                raise error.inside(f"[{at}]") from None
        raise


_PLAIN: Final[Mapping[Any, Read]] = {int: _count, float: _number, Any: lambda known: known}


class Fields:
    """The fields of a record, or the arguments of a function, by their types, and others
    ``beside`` them."""

    def __init__(self, kind: Callable[..., Any], **beside: Any) -> None:
        self._kind = kind
        hints = {**get_type_hints(kind, include_extras=True), **beside}
        hints.pop("return", None)
        parameters = signature(kind).parameters
        self._reads = {name: reader(hint) for name, hint in hints.items()}
        self._required = [
            name
            for name in hints
            if name not in beside and parameters[name].default is Parameter.empty
        ]

    def of(self, known: Any) -> dict[str, Any]:
        """Return what an object has of them."""
        reads, values = self._reads, {}
        for name, value in typed(dict, known).items():
            if name in reads:
                try:
                    values[name] = reads[name](value)
                except Unfit as error:
                    raise error.inside(f".{name}") from None
        for name in self._required:
            if name not in values:
                raise Unfit(f"{name!r} is missing")
        return values

    def record(self, known: Any) -> Any:
        """Return the record of an object, or of a list, which may lack the last field if that has a
        default."""
        if type(known) is dict:
            return self._kind(**self.of(known))
        items, reads = _list(known), self._reads.values()
        most, has_defaults = len(reads), len(self._required) < len(reads)
        if not most - has_defaults <= len(items) <= most:
            raise Unfit(f"a list of {len(items)} is no {self._kind.__name__}")
        try:
            return self._kind(*[read(item) for read, item in zip(reads, items, strict=False)])
        except Unfit:
            self.of(dict(zip(self._reads, items, strict=False)))  # tells which field it is
            raise
