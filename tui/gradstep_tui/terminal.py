"""The terminal a screen opens in: whether it can, and leaving everything as it was."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

from gradstep_tui import output

if TYPE_CHECKING:
    from gradstep.debugger.session import Session

# those that Textual sets and does not restore
_SIGNALS = ("SIGTSTP", "SIGCONT", "SIGWINCH", "SIGTTIN", "SIGTTOU")


def why_no_screen() -> str:
    """Say why the debugger's screen cannot open here and now; "" when it can."""
    # `textual serve` shows the screen in a browser, by a driver of its own
    if "TEXTUAL_DRIVER" not in os.environ:
        streams = (sys.__stdin__, sys.__stdout__, sys.__stderr__)
        if not all(stream is not None and stream.isatty() for stream in streams):
            return "the debugger's screen needs a terminal, and input or output is redirected"
        if os.environ.get("TERM") == "dumb":
            return "the debugger's screen needs a terminal, and TERM says that this one is 'dumb'"
    if threading.current_thread() is not threading.main_thread():
        return "the debugger's screen opens in the main thread only, and this is another one"
    asyncio = sys.modules.get("asyncio")  # slow to load, and without it no loop runs
    try:
        if asyncio is None or asyncio.get_running_loop() is None:
            return ""
    except RuntimeError:
        return ""
    return "the debugger's screen cannot open inside a running event loop (async code, a notebook)"


def show_screen(session: Session, title: str = "") -> str:
    """Open the screen over ``session``; "continue", "detach" or "abort", as the user left it.

    What the script printed meanwhile stands in the terminal afterwards.
    """
    # Textual is slow to load, and a command without a screen does not need it
    from gradstep_tui.app import DebuggerApp

    output.flush()
    app = DebuggerApp(session, title)
    with _signals_kept(), _keyboard_taken():
        outcome = app.run()
    for text, stderr in app.printed:
        output.replay(text, stderr)
    return outcome


@contextmanager
def _signals_kept() -> Iterator[None]:
    numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            # None: set by C code, which Python cannot put back
            if handler is not None:
                signal.signal(number, handler)


class _TakenKeyboard(io.TextIOBase):
    """``sys.stdin`` while the screen reads the keys: who asked here would wait for ever."""

    def readline(self, size: int | None = -1, /) -> NoReturn:
        raise io.UnsupportedOperation(
            "the debugger's screen uses the keyboard; close it with q before the program reads "
            "input"
        )

    read = readline


@contextmanager
def _keyboard_taken() -> Iterator[None]:
    before, sys.stdin = sys.stdin, _TakenKeyboard()
    try:
        yield
    finally:
        sys.stdin = before
