"""Running a user's script as Python would, in a process that we share with it."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar

from tui.failure import ExitCode, Failure

T = TypeVar("T")
_OURS = Path(__file__).resolve().parent.parent
_PACKAGES = tuple(str(_OURS / name) for name in ("autograd_core", "viz", "tui"))


def run_script(path: Path, arguments: list[str]) -> dict[str, Any]:
    """Run the file as ``__main__`` with ``arguments``, and return its global variables.

    Raises:
        Failure: it cannot be read, or raised; the message then is its traceback.
    """
    with script_process(path, arguments):
        code = guarded(lambda: load_source(path))
        main = ModuleType("__main__")
        main.__file__ = str(path)
        vars(main)["__builtins__"] = __builtins__
        before = sys.modules["__main__"]
        sys.modules["__main__"] = main
        try:
            guarded(lambda: exec(code, vars(main)))
        finally:
            sys.modules["__main__"] = before
    return vars(main)


def load_source(path: Path) -> CodeType:
    """The compiled file; a SyntaxError is the user's."""
    try:
        source = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Failure(f"cannot read {path} ({reason})", ExitCode.TARGET) from None
    return compile(source, str(path), "exec", dont_inherit=True)


@contextmanager
def script_process(path: Path | None, arguments: list[str]) -> Iterator[None]:
    """Make the process look to a script as if Python had been started on it.

    ``sys.argv`` and the first entry of ``sys.path`` are the script's, and the generic names
    ``viz`` and ``tui`` are free for modules of its own.
    """
    argv, search = sys.argv[:], sys.path[:]
    ours = {
        name: module
        for name, module in sys.modules.items()
        if name.partition(".")[0] in ("viz", "tui")
    }
    sys.argv = [str(path) if path else "", *arguments]
    sys.path.insert(0, str(path.resolve().parent) if path else str(Path.cwd()))
    if path is not None and path.resolve().parent != _OURS:
        for name in ours:
            del sys.modules[name]
    try:
        yield
    finally:
        sys.argv, sys.path = argv, search
        for name in [n for n in sys.modules if n.partition(".")[0] in ("viz", "tui")]:
            del sys.modules[name]
        sys.modules.update(ours)


def guarded(work: Callable[[], T]) -> T:
    """Call code of the user's; what it raises becomes a Failure with their traceback."""
    try:
        return work()
    except Failure:
        raise
    except SystemExit as error:
        if error.code in (None, 0):
            return None  # type: ignore[return-value]  # it ended early, in good order
        text = f"the script ended itself with exit code {error.code}"
        if not isinstance(error.code, int):
            text = str(error.code)
        raise Failure(text, ExitCode.SCRIPT_FAILED) from None
    except KeyboardInterrupt:
        raise Failure("interrupted", ExitCode.SCRIPT_FAILED) from None
    except Exception as error:
        raise Failure(user_traceback(error), ExitCode.SCRIPT_FAILED) from None


def user_traceback(error: BaseException) -> str:
    """The traceback of ``error`` as Python prints it, without the frames of this program."""
    shown = traceback.TracebackException.from_exception(error)
    each: traceback.TracebackException | None = shown
    seen: set[int] = set()
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        each.stack[:] = [frame for frame in each.stack if not _is_ours(frame.filename)]
        each = each.__cause__ or each.__context__
    return "".join(shown.format()).rstrip()


def _is_ours(file: str) -> bool:
    return file.startswith((*_PACKAGES, "<op ", "<frozen "))
