"""How a command ends before its time: with one message and one exit code, or in good order."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the process returns."""

    FINE = 0
    SCRIPT_FAILED = 1
    USAGE = 2
    TARGET = 3
    NO_RENDERER = 4
    FOUND = 5
    INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended


class Failure(Exception):
    """The command cannot go on: ``message`` says what is wrong and what helps."""

    def __init__(self, message: str, code: ExitCode) -> None:
        super().__init__(message)
        self.message = message
        self.code = code


class ScriptFailed(Failure):
    """The user's script raised; ``message`` is what Python would have printed."""

    def __init__(self, message: str) -> None:
        super().__init__(message, ExitCode.SCRIPT_FAILED)


class ScriptDone(BaseException):
    """Ends a script from inside its ``backward()``; no ``except Exception`` of it stops this."""

    def __init__(self) -> None:
        super().__init__("gradstep has what it needs, and ends the script here")
