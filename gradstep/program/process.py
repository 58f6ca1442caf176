"""Runs a user's code as Python would, in a process that it shares with this program."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
import shutil
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from linecache import getlines
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from gradstep.guest.cells import is_cell
from gradstep.guest.fence import variables_in
from gradstep.program.errors import ProgramError, ScriptDone, ScriptExited, ScriptFailed
from gradstep.program.refused_pass import findings_of, note_of
from gradstep.program.target import Target
from gradstep.program.tracebacks import our_frames_hidden
from gradstep.program.user_warnings import warnings_at_their_place


def run_as_main(target: Target, arguments: list[str]) -> dict[str, Any]:
    """Run a script or a module as ``__main__`` with ``arguments``; returns its global variables.

    Raises:
        ProgramError: it cannot be found or read, or raised.
    """
    with script_process(target, arguments), user_code():
        main, code = load_main(target)
        shared = _shared.get()
        if shared is not None:  # the others are there, too, but none of the cell's
            vars(main)["__builtins__"] = vars(builtins) | shared
            used = _used(code, shared)
            vars(main).update((name, shared[name]) for name in used & shared.keys())
        if target.path is None and main.__file__:
            sys.argv[0] = main.__file__
        with registered("__main__", main):
            if "WORLD_SIZE" in os.environ:
                _left[:] = [vars(main)]
            try:
                with user_code():  # what it defined up to a sys.exit() in good order counts
                    exec(code, vars(main))
            finally:
                if shared is not None:
                    own = {k: v for k, v in vars(main).items() if not k.startswith("__")}
                    shared.update(own)
            return vars(main)
    return {}


_shared: ContextVar[dict[str, Any] | None] = ContextVar("shared", default=None)


@contextmanager
def variables_shared(variables: dict[str, Any]) -> Iterator[None]:
    """Let a program that is run inside begin with ``variables``, and leave its own there: the cell
    of a notebook."""
    token = _shared.set(variables)
    try:
        yield
    finally:
        _shared.reset(token)


def _used(code: CodeType, variables: dict[str, Any]) -> set[str]:
    """Return the names in ``code``, and in functions, classes and objects of ``variables`` that it
    names."""
    used: set[str] = set()
    codes = [code]
    while codes:
        code = codes.pop()
        new = {*code.co_names} - used
        used |= new
        codes += [part for part in code.co_consts if isinstance(part, CodeType)]
        for value in [variables[name] for name in new & variables.keys()]:
            parts = [value, *variables_in(type(value)).values(), *variables_in(value).values()]
            functions = [part for part in parts if isinstance(part, FunctionType)]
            codes += [part.__code__ for part in functions if part.__globals__ is variables]
    return used


_left: list[dict[str, Any]] = []
"""The variables of one process of many, there until Python ends, as they would be plainly: a group
of processes that goes sooner waits for its threads, and they wait for the interpreter."""


def load_main(target: Target) -> tuple[ModuleType, CodeType]:
    """Return the module to run ``target`` in, and its code.

    Raises:
        ProgramError: it cannot be found or read.
    """
    main = ModuleType("__main__")
    vars(main)["__builtins__"] = __builtins__
    if target.path is not None:
        main.__file__ = str(target.path.absolute())
        return main, load_source(target.path)
    name = target.place
    if is_cell(name):  # whose lines stand where those of files do
        main.__file__ = name
        return main, compile("".join(getlines(name)), name, "exec", dont_inherit=True)
    spec = _spec_of(name)
    if spec.submodule_search_locations is not None:
        try:
            spec = _spec_of(f"{name}.__main__")
        except ProgramError:
            raise ProgramError(
                f"{name} is a package without a module __main__", remedy="name a module in it"
            ) from None
    code = getattr(spec.loader, "get_code", lambda _: None)(spec.name)
    if code is None or spec.origin is None:
        raise ProgramError(f"{name} has no Python code to run")
    main.__spec__, main.__loader__, main.__package__ = spec, spec.loader, spec.parent
    main.__file__ = spec.origin
    return main, code


def _spec_of(name: str) -> Any:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        raise _no_module(error, name) from None
    if spec is None:
        raise _missing(name)
    return spec


def import_module(name: str) -> ModuleType:
    """Import the module ``name``.

    Raises:
        ProgramError: there is none of that name, or it raised.
    """
    with user_code():
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            raise _no_module(error, name) from None
    raise ProgramError(f"{name} ended the program while it was imported")


def _no_module(error: ModuleNotFoundError, name: str) -> BaseException:
    """Choose what to raise for ``error``: the user's own if ``name`` is there, but imports
    another."""
    if error.name is None or not f"{name}.".startswith(f"{error.name}."):
        return error
    return _missing(error.name)


def _missing(name: str) -> ProgramError:
    return ProgramError(f"there is no module {name} in this directory or installed")


def load_module(path: Path) -> ModuleType:
    """Run the file as a module, not as ``__main__``, up to where it ends itself."""
    module = ModuleType(path.stem)
    module.__file__ = str(path.absolute())
    with registered(path.stem, module), user_code():
        exec(load_source(path), vars(module))
    return module


def load_source(path: Path) -> CodeType:
    """Return the compiled file, under its absolute name, as Python has it; a SyntaxError is the
    user's."""
    try:
        source = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ProgramError(f"cannot read {path} ({reason})") from None
    return compile(source, str(path.absolute()), "exec", dont_inherit=True)


@contextmanager
def user_code(*ours: type[BaseException]) -> Iterator[None]:
    """Tell exceptions of the user's code from errors of this program.

    A ``sys.exit()`` in good order ends the block, and nothing else.

    Args:
        ours: further exceptions that are not the user's.

    Raises:
        ScriptFailed: the code raised.
        ScriptExited: it ended the process with a code that says that something failed.
    """
    apart: tuple[type[BaseException], ...] = (ProgramError, ScriptDone, KeyboardInterrupt, *ours)
    try:
        yield
    except apart:
        raise
    except SystemExit as ending:
        if ending.code not in (None, 0):
            raise ScriptExited(ending.code) from None
    except BaseException as error:
        raise ScriptFailed(error, note_of(error), findings_of(error)) from None


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
def script_process(target: Target, arguments: list[str]) -> Iterator[None]:
    """Make the process look to ``target`` as if Python had been started on it.

    A child that the program forks, and that comes to the end of the program's code, ends here, as
    it would plainly: what follows is the parent's.
    """
    folder = target.path.resolve().parent if target.path else Path.cwd()
    program = "" if target.path is None else str(target.path)
    process = os.getpid()
    try:
        with process_state(program, arguments, folder):
            yield
    except ProgramError as error:
        if os.getpid() == process:
            raise
        raise SystemExit(_ending(error)) from None
    if os.getpid() != process:
        raise SystemExit


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder that is there as long as what is done inside, also where a child that the
    program forks ends sooner: :mod:`tempfile` removes a folder at the end of any process."""
    folder, process = tempfile.mkdtemp(prefix="gradstep-"), os.getpid()
    try:
        yield Path(folder)
    finally:
        if os.getpid() == process:
            shutil.rmtree(folder, ignore_errors=True)


def _ending(error: ProgramError) -> object:
    """Return the code with which Python ends after an error of a program's, or what it prints."""
    if isinstance(error, ScriptExited):
        return error.code
    return 1 if isinstance(error, ScriptFailed) and error.tell_by_hook() else str(error)


@contextmanager
def process_state(program: str, arguments: list[str], folder: Path) -> Iterator[None]:
    """Set ``sys.argv``, and the first entry of ``sys.path`` to ``folder``, for a user's code.

    What it does to these, to ``sys.excepthook`` (as ``torch.distributed`` does), to NumPy's error
    state and to the warnings ends with it, and so do the timers that it sets (``signal.alarm``), so
    that this program goes on undisturbed.
    """
    argv, search, entries, main = sys.argv, sys.path, sys.path[:], sys.modules["__main__"]
    hook, timers = sys.excepthook, _timers_that_run()
    sys.argv = [program, *arguments]
    sys.path.insert(0, str(folder))
    try:
        with (
            warnings.catch_warnings(), np.errstate(), our_frames_hidden(), warnings_at_their_place()
        ):  # fmt: skip
            yield
    finally:
        search[:] = entries
        sys.argv, sys.path, sys.modules["__main__"] = argv, search, main
        sys.excepthook = hook
        for timer in _timers_that_run() - timers:
            signal.setitimer(timer, 0)


def _timers_that_run() -> set[int]:
    """Return the timers that will send a signal to this process."""
    names = ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF")  # not everywhere
    timers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    return {timer for timer in timers if signal.getitimer(timer)[0]}
