"""Warnings of a program at the lines that they would have without this one.

A warning belongs to the frame that is so many levels around: frames of ours, which hand on what the
program calls or carry out its passes, and those of PyTorch by which it calls them, would be counted
too.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from gradstep.guest.fence import fenced
from gradstep.guest.own_files import StackEntry, frames_of_program

_DISPATCH: Final = "__torch_dispatch__"
_HANDING_ON: Final = ("__torch_function__", _DISPATCH, "noted", "passed", "apply")
"""Functions of ours that call what the program has called, which may warn in C."""


@contextmanager
def warnings_at_their_place() -> Iterator[None]:
    """Within it, warnings are shown, filtered and counted where they would be without us."""
    show: Callable[[warnings.WarningMessage], None] | None = vars(warnings).get("_showwarnmsg")
    if show is None:
        yield
        return

    def show_at_place(message: warnings.WarningMessage) -> None:
        place = _place_of(message)
        if place is None:
            show(message)
            return
        variables = place.f_globals
        warnings.warn_explicit(
            message.message,
            message.category,
            place.f_code.co_filename,
            place.f_lineno,
            module=variables.get("__name__"),
            registry=variables.setdefault("__warningregistry__", {}),
            source=message.source,
        )

    vars(warnings)["_showwarnmsg"] = show_at_place
    try:
        yield
    finally:
        if vars(warnings).get("_showwarnmsg") is show_at_place:
            vars(warnings)["_showwarnmsg"] = show


@fenced("the place of a warning")
def _place_of(message: warnings.WarningMessage) -> FrameType | None:
    """Return the frame that a warning belongs to; None where that is the one it was given to, which
    else is made to forget that it warned."""
    inner: list[FrameType] = []
    frame: FrameType | None = sys._getframe(3)  # not that of the fence, nor that of who asks
    while frame is not None:
        inner.append(frame)
        if (frame.f_code.co_filename, frame.f_lineno) == (message.filename, message.lineno):
            break
        frame = frame.f_back
    if frame is None:
        return None
    level = 1 + sum(not _is_internal(frame) for frame in inner[1:])
    around = frame.f_back
    if around is not None and around.f_code.co_name == _DISPATCH and _is_ours(around):
        inner.append(around)  # what PyTorch runs an op by is there for our mode alone
    warns_itself = _is_ours(inner[0]) and inner[0].f_code.co_name not in _HANDING_ON
    if warns_itself or not any(map(_is_ours, inner)):
        return None
    stack = inner[:]
    outer = inner[-1].f_back
    while outer is not None:
        stack.append(outer)
        outer = outer.f_back
    plain = frames_of_program([StackEntry(_file_of(frame), frame) for frame in reversed(stack)])
    if len(plain) < level:
        return None
    _forget(message, frame.f_globals)
    return plain[-level].place


def _is_internal(frame: FrameType) -> bool:
    """Return whether Python counts a frame as part of an import."""
    file = frame.f_code.co_filename
    return "importlib" in file and "_bootstrap" in file


def _file_of(frame: FrameType) -> str:
    """Return the file of a frame; the core is a library as any other, and has none of ours."""
    is_of_core = str(frame.f_globals.get("__name__")).startswith("autograd_core")
    return "" if is_of_core else frame.f_code.co_filename


def _is_ours(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__")).startswith("gradstep.")


def _forget(message: warnings.WarningMessage, variables: dict[str, Any]) -> None:
    """Let the same warning be heard again at the wrong place: it may have another right one."""
    text, category = str(message.message), message.category
    known = variables.get("__warningregistry__", {})
    for line in (message.lineno, 0):
        known.pop((text, category, line), None)
    once: dict[Any, Any] = vars(warnings).get("onceregistry", {})
    once.pop((text, category), None)
