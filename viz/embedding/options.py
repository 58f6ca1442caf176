"""What an author can say about a picture: the words of :func:`viz.render`, read from text.

Sphinx and Markdown hand over text.  What it becomes follows from the type that the option has
in the signature of :func:`viz.render` or :func:`viz.film`, so that an option which is added
there can be used in documents at once.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import viz

Value = str | bool | int | float | tuple[str, ...]

# the document says these by itself
_NOT_FOR_DOCUMENTS = ("obj", "out", "format", "inputs", "profile", "folder", "return")
_TRUTH = {"": True, "yes": True, "true": True, "no": False, "false": False}


def steps(text: str) -> int:
    """The option ``step``: a number of nodes that have run; ``all`` is -1.

    >>> steps("3"), steps("all")
    (3, -1)
    """
    return -1 if text.strip() == "all" else _whole(text)


def truth(text: str) -> bool:
    """A flag; standing there alone, it means yes.

    >>> truth(""), truth("no")
    (True, False)
    """
    return _TRUTH[_one_of(tuple(_TRUTH), text.strip().lower())]


@cache
def drawing_options(film: bool = False) -> Mapping[str, Callable[[str], Value]]:
    """The options of :func:`viz.render`, or of :func:`viz.film`, by the name a document gives
    them (``max-boxes``), each with what reads it.

    >>> drawing_options()["view"]("both"), drawing_options()["leaves"]("")
    ('both', True)
    """
    function = viz.film if film else viz.render
    hints = get_type_hints(function)
    return {
        name.replace("_", "-"): _reader(hints[name])
        for name in inspect.signature(function).parameters
        if name not in _NOT_FOR_DOCUMENTS
    }


def _reader(hint: Any) -> Callable[[str], Value]:
    """What turns text into a value of the type ``hint``.

    Raises ValueError, with what is possible, on a text that is none.
    """
    if get_origin(hint) in (Union, types.UnionType):
        kinds = [each for each in get_args(hint) if each is not types.NoneType]
        return _reader(min(kinds, key=lambda each: each is str))  # any text would be a str
    if get_origin(hint) is Literal:
        return lambda text: _one_of(get_args(hint), text.strip())
    if hint is bool:
        return truth
    if hint is int:
        return _whole
    if hint is float:
        return float
    if get_origin(hint) is not None and issubclass(get_origin(hint), Iterable):
        return lambda text: tuple(re.split(r"[,\s]+", text.strip()))
    return str.strip


def _whole(text: str) -> int:
    if not text.strip().isdecimal():
        raise ValueError(f"{text!r} is no whole number")
    return int(text)


def _one_of(values: tuple[str, ...], text: str) -> str:
    if text not in values:
        known = ", ".join(value for value in values if value)
        raise ValueError(f"{text!r} is none of {known}")
    return text
