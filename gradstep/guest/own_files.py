"""Tell this program's own files and frames from the user's."""

from __future__ import annotations

import importlib
import os
import sys
import sysconfig
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from traceback import walk_tb
from types import FrameType, ModuleType, TracebackType
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

# not by pathlib, whose import takes as long as that of ten modules of this package
FOLDER: Final = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
"""Where the packages of this program are."""


def _folder_of(package: str) -> str:
    """Return where a package is: beside this one, or, in a checkout, in the folder of its layer."""
    beside = os.path.join(FOLDER, package)
    layer = os.path.join(FOLDER, package.removeprefix("gradstep_"), package)
    return os.path.join(layer if os.path.isdir(layer) else beside, "")


OWN_FILES: Final = (
    "<op ",  # code that the core generates when an op first runs
    *map(_folder_of, ("autograd_core", "gradstep", "gradstep_viz", "gradstep_tui")),
)
"""How the names of this program's own files begin, as frames and tracebacks give them."""


def is_own_file(file: str) -> bool:
    """Return whether ``file``, as a frame or a traceback names it, is this program's own.

    >>> is_own_file(__file__), is_own_file("train.py")
    (True, False)
    """
    return file.startswith(OWN_FILES)


def is_user_file(file: str) -> bool:
    """Return whether ``file``, as a frame names it, is of the user's program: neither this
    program's own nor PyTorch's.

    >>> is_user_file("train.py"), is_user_file(__file__)
    (True, False)
    """
    if _is_own(file):  # to look for PyTorch takes longer
        return False
    torch = imported_pytorch() if "torch" in sys.modules else None
    return _is_user_file(file, getattr(torch, "__file__", None))


@lru_cache(maxsize=4096)
def is_of_library(file: str) -> bool:
    """Return whether a file was installed: whoever debugs did not write it.

    >>> is_of_library(os.__file__), is_of_library("train.py")
    (True, False)
    """
    if file.startswith(_INSTALLED) or "site-packages" in file or "dist-packages" in file:
        return True
    folders = [os.path.join(folder, "") for folder in sys.path if folder]
    return any(file.startswith(folder) and _has_packages(folder) for folder in folders)


@lru_cache(maxsize=256)
def _has_packages(folder: str) -> bool:
    """Return whether packages were installed in a folder, as by ``pip install --target``."""
    try:
        return any(name.endswith(".dist-info") for name in os.listdir(folder))
    except OSError:
        return False


_INSTALLED: Final = tuple(
    os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "purelib", "platlib")
)
_is_own: Final = lru_cache(maxsize=4096)(is_own_file)


class _Frame(Protocol):
    @property
    def filename(self) -> str: ...


_F = TypeVar("_F", bound=_Frame)
_P = TypeVar("_P")


class StackEntry(NamedTuple, Generic[_P]):
    """What stands for a frame of a stack, and the name of its file."""

    filename: str
    place: _P


_RUNS_SCRIPTS: Final = os.path.join(FOLDER, "gradstep", "program", "process.py")
_OF_MODES: Final = ("torch.overrides", "torch._compile", "torch._dynamo.eval_frame", "torch._ops")


def frames_of_program(stack: Sequence[_F]) -> list[_F]:
    """Return the frames of a stack, outermost first, that it would have without this program.

    Left out are our own, those outside the one that runs a script, and those of PyTorch by which it
    calls a mode of ours instead of the function, which that then calls.
    """
    overrides, *around, calls = (
        getattr(sys.modules.get(name), "__file__", None) for name in _OF_MODES
    )
    frames: list[_F] = []
    ours = False
    for frame in stack:
        if frame.filename == _RUNS_SCRIPTS:
            frames.clear()
        if _is_hidden(frame.filename):
            while frames and frames[-1].filename in around:
                frames.pop()
            if frames and frames[-1].filename == overrides:
                del frames[-2:]
            ours = True
        elif not (ours and frame.filename == calls):
            frames.append(frame)
            ours = False
    return frames


def traceback_of_program(place: TracebackType | None) -> TracebackType | None:
    """Return the traceback that begins at ``place`` as it would be without this program."""
    places: list[StackEntry[TracebackType]] = []
    while place is not None:
        places.append(StackEntry(place.tb_frame.f_code.co_filename, place))
        place = place.tb_next
    for _, entry in reversed(frames_of_program(places)):
        place = TracebackType(place, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return place


def forget_own_frames(error: BaseException) -> None:
    """Let our frames in the traceback of ``error``, and those around them, keep nothing alive: they
    hold the error, and all that ran, beyond the moment at which the program lets go of it."""
    for place, _ in walk_tb(error.__traceback__):
        frame: FrameType | None = place
        if not is_own_file(place.f_code.co_filename):  # an inner pass has let go of ours before it
            frame = place.f_back
        while frame is not None and is_own_file(frame.f_code.co_filename):
            with suppress(RuntimeError):  # it runs still
                frame.clear()
            frame = frame.f_back
    error.__traceback__ = traceback_of_program(error.__traceback__)


def _is_hidden(file: str) -> bool:
    return is_own_file(file) or file.startswith("<frozen ") or file == importlib.__file__


def imported_pytorch() -> ModuleType | None:
    """Return PyTorch, None where the program has not imported it; a ``torch.py`` of its own is
    none, and neither is the core under that name."""
    module = sys.modules.get("torch")
    in_c = getattr(getattr(module, "Tensor", None), "__base__", None)
    return module if getattr(in_c, "__module__", "") == "torch._C" else None


@lru_cache(maxsize=4096)  # asked for every op of a program
def _is_user_file(file: str, torch: str | None) -> bool:
    return not file.startswith(_not_of_users(torch))


@lru_cache(maxsize=4)
def _not_of_users(torch: str | None) -> tuple[str, ...]:
    if torch is None:
        return OWN_FILES
    # code that torch makes, of compiled functions and overloads, has no file
    return (*OWN_FILES, os.path.dirname(torch) + os.sep, "<frozen ", "<string>", "<eval_with_key>")
