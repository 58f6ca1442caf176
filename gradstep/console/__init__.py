"""The command language: gdb's words, for the prompt, for files and for ``Session.do``."""

from __future__ import annotations

from gradstep.console.completing import complete
from gradstep.console.console import Console
from gradstep.console.files import command_lines, uncommented
from gradstep.console.helping import TOPICS
from gradstep.debugger.pass_session import PassSession

__all__ = ["Console", "command_lines", "complete", "open_console", "uncommented"]


def open_console(session: PassSession) -> Console:
    """Open a console with the whole language for ``session``."""
    return Console(session, [command for _, commands in TOPICS for command in commands])
