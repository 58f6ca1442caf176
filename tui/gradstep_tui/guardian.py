"""The terminal is given back whatever becomes of the program: a small parent process waits for it.

A signal, ``os.abort()``, a crash in C code or the out-of-memory killer ends a process before it can
leave its screen.  So a command with a screen goes on in a child process; the parent passes on what
signals it gets, stops and goes on with the child, and ends as it did.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NoReturn

from gradstep_tui import output
from gradstep_tui.printed import printed

_RESET: Final = (
    "\x1b[?2026l\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?2048l\x1b[<u"
    "\x1b[?7h\x1b[0m\x1b[?1049l\x1b[?25h"
)
"""Ends what Textual's driver begins: frames, mouse, focus, paste, sizes, keys, the screen."""
ENDING: Final = ("SIGTERM", "SIGHUP")
_FORWARDED: Final = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2", "SIGTSTP")
_SIGNAL_OF_PARENT: Final = 1  # Linux: PR_SET_PDEATHSIG
_BY_KERNEL: Final = 0x80  # si_code: for all processes in the foreground, the child included
_TO_LEADER: Final = signal.SIGHUP if hasattr(signal, "SIGHUP") else None  # of the session, alone


_guarded = False


def is_guarded() -> bool:
    """Return whether a parent process gives back the terminal of this one."""
    return _guarded


def terminal_state() -> Callable[[], None] | None:
    """Return what gives the terminal back as it is now; None where there is none."""
    try:
        import termios  # there is none on Windows
    except ImportError:
        return None
    try:
        attributes = termios.tcgetattr(0)
    except termios.error:
        return None

    def give_back() -> None:
        with suppress(OSError):
            os.write(2, _RESET.encode())
        with suppress(termios.error):
            termios.tcsetattr(0, termios.TCSAFLUSH, attributes)

    return give_back


def go_on_in_child() -> None:
    """Return in a child process, which is to open a screen; the parent ends when it has ended.

    Where there is no terminal to guard, there is no child.
    """
    give_back = terminal_state()
    is_terminal = all(os.isatty(file) for file in (0, 1, 2))
    if give_back is None or not is_terminal or "TEXTUAL_DRIVER" in os.environ:
        return
    output.flush()
    printed()  # before the fork: both processes are to have it
    signals = {getattr(signal, name) for name in _FORWARDED}
    # SIGTTOU: the terminal may be set from the background, too
    blocked = {*signals, signal.SIGCHLD, signal.SIGTTOU}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    parent = os.getpid()
    child = os.fork()
    if child:
        signal.signal(signal.SIGCHLD, lambda *_: None)  # to be waited for; it may be ignored
        _end_as(_wait(child, {*signals, signal.SIGCHLD}), give_back)
    global _guarded
    _guarded = True
    _end_with(parent)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(parent: int) -> None:
    """Have this process end with ``parent``: nobody would give back its terminal."""
    if sys.platform == "linux":
        import ctypes  # slow to load

        ctypes.CDLL(None).prctl(_SIGNAL_OF_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)


def _wait(child: int, signals: set[signal.Signals]) -> int:
    """Wait for the end of ``child``, and return its status; pass on ``signals``."""
    while True:
        ended, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
        if ended and os.WIFSTOPPED(status):
            os.kill(os.getpid(), signal.SIGSTOP)  # the shell goes by this process
            os.kill(child, signal.SIGCONT)
        elif ended:
            return status
        else:
            number, by_terminal = _next_signal(signals)
            if number != signal.SIGCHLD and (number == _TO_LEADER or not by_terminal):
                with suppress(ProcessLookupError):
                    os.kill(child, number)


def _next_signal(signals: set[signal.Signals]) -> tuple[int, bool]:
    """Wait for a signal; whether the terminal sent it, and so to the child as well."""
    if hasattr(signal, "sigwaitinfo"):
        received = signal.sigwaitinfo(signals)
        return received.si_signo, received.si_code == _BY_KERNEL
    number = signal.sigwait(signals)
    return number, number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP)


def _end_as(status: int, give_back: Callable[[], None]) -> NoReturn:
    """End this process as its child has ended, with its terminal and its output in order."""
    if printed().is_open:
        give_back()
        printed().show()
    if os.WIFSIGNALED(status):
        end_by(os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


def end_by(number: int) -> NoReturn:
    """End this process by a signal, as if it had never been handled."""
    if sys.platform != "win32":
        import resource  # Unix alone has it

        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        resource.setrlimit(resource.RLIMIT_CORE, (0, hard))  # the child has left its core
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    os._exit(128 + number)
