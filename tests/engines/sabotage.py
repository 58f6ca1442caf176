"""Runs a gradstep command of which one function fails: ``sabotage.py [FUNCTION] -- COMMAND...``,
once, or with ``FUNCTION*`` whenever it is called.

Without a FUNCTION, writes those that the command calls while the program of the user's runs to the
file ``functions``, one a line.  PyTorch, and an engine of ours, run below; they are left alone.
"""

from __future__ import annotations

import inspect
import sys
import threading
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import gradstep
import gradstep_tui
from gradstep_tui.cli import main

OURS = tuple(str(Path(package.__file__ or "").parent) for package in (gradstep, gradstep_tui))
ENTRIES = {
    # where a call of the program's enters: what it asked for is done in there
    "_Modules.noting.<locals>.noted",
    "noting_functions.<locals>.apply",
    "Lines.__torch_function__",
    "GraphTracer.op",
    "Ops.__torch_dispatch__",
    "_run_backward",
    "carry_out",
    "run",
    "Calls.handle",
    "Calls.__call__",
    "Calls.requests",
    "is_traced",
    "ObservedEngine._hear",
    "ObservedEngine._before_leaf",
    "ObservedEngine._after",
    "ObservedEngine._after_leaf",
    "ObservedEngine._after_handing_over",
    "ObservedEngine._after_muted",
    "asking.__init__", "asking.__enter__", "asking.__exit__",
    "KeptRun._inside", "KeptRun._run", "Scope.__enter__", "Scope.__exit__",
    # the program is ended, or one of two threads waits for the other
    "run_target.<locals>.handle_and_end", "EngineThread.go_on", "EngineThread.start",
    "EngineThread._wait", "EngineThread.halt", "EngineThread._serve", "EngineThread.host",
    # without a body; PyTorch ends the process where a hook that packs raises
    "_nothing",
    # Python itself tells of what a destructor or a finalizer raises, and of what is half made
    "Breakpoints.unbind",
    "Copy.__init__", "Copy.__del__", "Share.__del__", "_Life.__init__", "_Life.__del__",
}  # fmt: skip
"""The entries into our code, which cannot be left out; what they call can."""
FENCE = "guest/fence.py"


class Sabotage(Exception):
    """Not an error of the program's."""


def name_of(code: CodeType) -> str:
    folder = next(each for each in OURS if code.co_filename.startswith(each))
    return f"{code.co_filename[len(folder) + 1 :]}:{code.co_qualname}"


def is_within(frame: FrameType | None, script: str) -> bool:
    """Whether the program runs, and has come to us."""
    if threading.current_thread() is not threading.main_thread():
        return True  # a session beside the program
    while frame is not None:
        if frame.f_code.co_filename == script:
            return True
        frame = frame.f_back
    return False


def spoil(name: str, script: str) -> None:
    """Have the function of this name fail when the program first comes to it, or always."""
    always = name.endswith("*")
    file, _, path = name.removesuffix("*").partition(":")
    package = "gradstep" if (Path(OURS[0]) / file).exists() else "gradstep_tui"
    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    found: Any = import_module(f"{package}.{module}".removesuffix(".__init__"))
    for part in path.split("."):
        found = inspect.getattr_static(found, part)
    if isinstance(found, property):
        found = found.fget
    function: Any = inspect.unwrap(getattr(found, "func", getattr(found, "__func__", found)))
    code = function.__code__
    whole = FunctionType(code, function.__globals__, function.__name__, function.__defaults__)
    whole.__kwdefaults__ = function.__kwdefaults__

    def fail_once() -> Any:
        if is_within(sys._getframe(2), script):
            if not always:
                function.__code__ = code
            raise Sabotage(name)
        return whole

    fail_once.__code__ = fail_once.__code__.replace(co_filename=code.co_filename)
    FAILING.append(fail_once)
    function.__code__ = trampoline.__code__.replace(
        co_filename=code.co_filename, co_name=code.co_name, co_qualname=code.co_qualname
    )


FAILING: list[Any] = []
sys.modules["gradstep_sabotage"] = sys.modules[__name__]


def trampoline(*given: Any, **named: Any) -> Any:
    import sys

    return sys.modules["gradstep_sabotage"].FAILING[0]()(*given, **named)


def names_called(command: list[str], script: str) -> int:
    """Carry out ``command``, writing which functions it comes to."""
    seen: dict[str, None] = {}

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if (
            event == "call"
            and code.co_filename.startswith(OURS)
            and not code.co_filename.endswith(FENCE)
            and code.co_qualname not in ENTRIES
            and "<" not in code.co_qualname
            and not code.co_flags & (inspect.CO_GENERATOR | inspect.CO_NESTED)
            and not code.co_freevars
            and code.co_flags & inspect.CO_OPTIMIZED  # no body of a class
            and (name := name_of(code)) not in seen
            and is_within(frame.f_back, script)
        ):
            seen[name] = None

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        return main(command)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        Path("functions").write_text("\n".join(seen))


if __name__ == "__main__":
    at = sys.argv.index("--")
    wanted, command = "".join(sys.argv[1:at]), sys.argv[at + 1 :]
    script = str(Path(next(each for each in command if each.endswith(".py"))).absolute())
    if wanted:
        spoil(wanted, script)
        sys.exit(main(command))
    sys.exit(names_called(command, script))
