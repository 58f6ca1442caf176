"""Running a user's script as Python would, in a process that we share with it."""

from __future__ import annotations

import importlib
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar

import numpy as np

from autograd_core.own_files import FOLDER, is_own_file
from tui.failure import ExitCode, Failure, ScriptDone, ScriptFailed

T = TypeVar("T")
_GENERIC = ("viz", "tui")


def run_script(path: Path, arguments: list[str]) -> dict[str, Any]:
    """Run the file as ``__main__`` with ``arguments``, and return its global variables.

    Raises:
        Failure: it cannot be read, or raised; the message then is its traceback.
    """
    with script_process(path, arguments):
        code = guarded(lambda: load_source(path))
        if code is None:
            return {}
        main = ModuleType("__main__")
        main.__file__ = str(path.absolute())
        vars(main)["__builtins__"] = __builtins__
        with registered("__main__", main):
            guarded(lambda: exec(code, vars(main)))
    return vars(main)


def load_source(path: Path) -> CodeType:
    """The compiled file, under its absolute name, as Python has it; a SyntaxError is the user's."""
    try:
        source = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Failure(f"cannot read {path} ({reason})", ExitCode.TARGET) from None
    return compile(source, str(path.absolute()), "exec", dont_inherit=True)


@contextmanager
def registered(name: str, module: ModuleType) -> Iterator[None]:
    """While it runs, ``module`` is found under ``name``, as pickle and dataclasses expect."""
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        yield
    finally:
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before


@contextmanager
def script_process(path: Path | None, arguments: list[str]) -> Iterator[None]:
    """Make the process look to a script as if Python had been started on it.

    ``sys.argv`` and the first entry of ``sys.path`` are the script's, and the generic names
    ``viz`` and ``tui`` are free for modules of its own.  What it does to these, to NumPy's
    error state and to the warnings ends with it, so that we can draw undisturbed.
    """
    argv, search, entries, main = sys.argv, sys.path, sys.path[:], sys.modules["__main__"]
    folder = path.resolve().parent if path else Path.cwd()
    sys.argv = [str(path) if path else "", *arguments]
    sys.path.insert(0, str(folder))
    names = _GENERIC if folder != FOLDER else ()
    try:
        with _free_names(names), warnings.catch_warnings(), np.errstate():
            yield
    finally:
        search[:] = entries
        sys.argv, sys.path, sys.modules["__main__"] = argv, search, main


_hidden: list[tuple[tuple[str, ...], dict[str, ModuleType]]] = []


def _take_modules(names: tuple[str, ...]) -> dict[str, ModuleType]:
    """Remove the modules called ``names``, and those within them, from ``sys.modules``."""
    taken = {name: m for name, m in sys.modules.items() if name.partition(".")[0] in names}
    for name in taken:
        del sys.modules[name]
    return taken


@contextmanager
def _free_names(names: tuple[str, ...]) -> Iterator[None]:
    """Put our modules of these names out of the way."""
    _hidden.append((names, _take_modules(names)))
    try:
        yield
    finally:
        _, ours = _hidden.pop()
        _take_modules(names)
        sys.modules.update(ours)


@contextmanager
def our_names() -> Iterator[None]:
    """Within a script, but in code of ours: the generic names mean our packages again."""
    if not _hidden:
        yield
        return
    names, ours = _hidden[-1]
    theirs = _take_modules(names)
    sys.modules.update(ours)
    try:
        yield
    finally:
        ours.update(_take_modules(names))
        sys.modules.update(theirs)


def guarded(work: Callable[[], T]) -> T | None:
    """Call code of the user's; None when it ended itself in good order, by ``sys.exit()``.

    Raises:
        Failure: it raised; the message is their traceback.
    """
    try:
        return work()
    except (Failure, ScriptDone, KeyboardInterrupt):
        raise
    except SystemExit as ending:
        if ending.code in (None, 0):
            return None
        if not isinstance(ending.code, int):
            raise ScriptFailed(str(ending.code)) from None
        text = f"the script ended itself with exit code {ending.code}"
        raise Failure(text, ExitCode.SCRIPT_FAILED) from None
    except BaseException as error:
        raise ScriptFailed(user_traceback(error)) from None


def user_traceback(error: BaseException) -> str:
    """The traceback of ``error`` as Python prints it, without the frames of this program."""
    shown = traceback.TracebackException.from_exception(error)
    waiting: list[traceback.TracebackException | None] = [shown]
    while waiting:
        each = waiting.pop()
        if each is None:
            continue
        each.stack[:] = [frame for frame in each.stack if not _is_ours(frame.filename)]
        waiting += [each.__cause__, each.__context__, *(each.exceptions or ())]
    bare = not shown.stack and shown.__cause__ is None and shown.__context__ is None
    return "".join(shown.format_exception_only() if bare else shown.format()).rstrip()


def _is_ours(file: str) -> bool:
    return is_own_file(file) or file.startswith("<frozen ") or file == importlib.__file__
