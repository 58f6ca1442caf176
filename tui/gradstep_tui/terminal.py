"""The terminal a screen opens in: whether it can, and leaving everything as it was."""

from __future__ import annotations

import getpass
import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from gradstep_tui import output
from gradstep_tui.printed import printed

if TYPE_CHECKING:
    from gradstep.console.session import Session
    from gradstep_tui.app import DebuggerApp

_raw_input = vars(getpass).get("_raw_input")  # of every Python so far, but private
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
    printed().open()
    try:
        with _signals_kept(), _keyboard_taken(app):
            return app.run()
    finally:  # a handler of the program's may raise
        app.leave_terminal()
        printed().show()


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


class _Keyboard(io.TextIOBase):
    """``sys.stdin`` while the screen reads the keys: it gives way to whoever reads here."""

    def __init__(self, file: TextIO, app: DebuggerApp) -> None:
        self._file = file
        self._app = app

    def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
        return self._read(lambda: self._file.readline(-1 if size is None else size))

    def read(self, size: int | None = -1, /) -> str:
        return self._read(lambda: self._file.read(-1 if size is None else size))

    def isatty(self) -> bool:
        return True

    def ask_for_password(self, prompt: str = "", *_: object, **__: object) -> str:
        """Ask, as ``getpass`` does, once more from the start: leaving the screen turns the echo
        on that it had turned off."""
        with _getpass_reads_by(_raw_input):
            return self._read(lambda: getpass.getpass(prompt))

    def _read(self, read: Callable[[], str]) -> str:
        def show_and_read() -> str:
            printed().show()  # what the program asks, and all that it printed before
            try:
                return read()
            except KeyboardInterrupt:
                output.replay("\n", stderr=False)  # behind ^C
                raise
            finally:
                printed().open()

        return self._app.outside(show_and_read)


@contextmanager
def _keyboard_taken(app: DebuggerApp) -> Iterator[None]:
    before, sys.stdin = sys.stdin, (keyboard := _Keyboard(sys.stdin, app))
    try:
        with _getpass_reads_by(keyboard.ask_for_password):
            yield
    finally:
        sys.stdin = before


@contextmanager
def _getpass_reads_by(read: Callable[..., str] | None) -> Iterator[None]:
    """Let ``getpass``, which opens the terminal itself, read by ``read``, under whatever name the
    program has imported its function."""
    names = vars(getpass)
    before, names["_raw_input"] = names.get("_raw_input"), read
    try:
        yield
    finally:
        names["_raw_input"] = before
