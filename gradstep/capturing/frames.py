"""The program's frames on the stack: the line that runs, and what it calls a tensor or a module."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType
from typing import Any, Final

from gradstep.contract.op_records import source_at
from gradstep.graph.model import Source
from gradstep.guest.fence import read
from gradstep.guest.own_files import is_of_library, is_user_file


def called(tensor: Any, frame: FrameType | None) -> str:
    """Return the name of ``tensor`` in the outermost call in which a local variable, or a
    parameter, is that tensor; "" where there is none."""
    name = ""
    while (frame := user_frame(frame)) is not None:
        if frame.f_code.co_flags & CO_OPTIMIZED:
            name = _name_in(frame, tensor) or name
        frame = frame.f_back
    return name


def outermost_of(module: Any, frame: FrameType | None) -> Any:
    """Return the module of which ``module`` is a part, and in a method of which, such as
    ``training_step``, it is called; ``module`` itself where it is called elsewhere."""
    frame = user_frame(frame)
    if frame is None or frame.f_code.co_varnames[:1] != ("self",):
        return module
    with variables_of(frame) as variables:
        caller = variables.get("self")
    named = getattr(type(caller), "named_modules", None)
    # what is called while it is being made is no part of it yet
    if named is not None and any(part is module for _, part in read(lambda: named(caller))):
        return caller
    return module


_SHARE_LOCALS = frozenset(("dir", "eval", "exec", "locals", "vars"))


def _name_in(frame: FrameType, tensor: Any) -> str:
    """Return the local variable of ``frame`` that is ``tensor``; "" where there is none."""
    with variables_of(frame) as variables:
        return next((name for name, value in variables.items() if value is tensor), "")


@contextmanager
def variables_of(frame: FrameType) -> Iterator[Mapping[str, Any]]:
    """Give the local variables of a function; none where asking for them would be seen.

    Before Python 3.13 a frame keeps the dictionary of its variables: asked for, that changes under
    a program or a debugger that has it, too, and it would hold what the program deletes.
    """
    if sys.version_info >= (3, 13):
        yield frame.f_locals
    elif _are_seen(frame):
        yield {}
    else:
        try:
            yield frame.f_locals
        finally:
            frame.f_locals.clear()


def values_of(frame: FrameType, names: Iterable[str]) -> dict[str, Any]:
    """Return the values of some local variables of a function, in a third of the time that
    :func:`variables_of` takes."""
    if sys.version_info < (3, 13) and _are_seen(frame):
        return {}
    variables = frame.f_locals
    values = {name: variables[name] for name in names if name in variables}
    if sys.version_info < (3, 13):
        variables.clear()
    return values


def _are_seen(frame: FrameType) -> bool:
    return sys.gettrace() is not None or not _SHARE_LOCALS.isdisjoint(frame.f_code.co_names)


def user_source(frame: FrameType | None) -> Source | None:
    """Return the innermost line on the stack that is not our own."""
    calling = user_frame(frame)
    return None if calling is None else source_at(calling.f_code, calling.f_lasti)


def calling_source(frame: FrameType | None) -> Source | None:
    """Return the innermost line that whoever debugs wrote: that of ``trainer.fit(model)`` where a
    library calls; the library's own where the whole program was installed."""
    innermost = calling = user_frame(frame)
    while calling is not None and is_of_library(calling.f_code.co_filename):
        calling = user_frame(calling.f_back)
    calling = calling or innermost
    return None if calling is None else source_at(calling.f_code, calling.f_lasti)


def user_frame(frame: FrameType | None) -> FrameType | None:
    """Return the innermost frame on the stack that is not our own."""
    while frame is not None and not is_of_program(frame.f_code):
        frame = frame.f_back
    return frame


def is_of_program(code: CodeType) -> bool:
    """Return whether ``code`` is of the user's program."""
    number = id(code)
    return number not in _ours and (number in _users or _is_user_code(code))


def _is_user_code(code: CodeType) -> bool:
    """Return whether ``code``, which was not asked about before, is of the user's program."""
    if len(_codes) > MOST:
        for cache in (_ours, _users, _codes):
            cache.clear()
    _codes.append(code)
    is_users = is_user_file(code.co_filename)
    (_users if is_users else _ours).add(id(code))
    return is_users


MOST: Final = 1 << 14
_ours: Final[set[int]] = set()  # by identity, as hashing code takes longer
_users: Final[set[int]] = set()
_codes: Final[list[CodeType]] = []  # which keep their identity
