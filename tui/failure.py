"""How a command fails: one message for people, one exit code for programs."""

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


class Failure(Exception):
    """The command cannot go on: ``message`` says what is wrong and what helps."""

    def __init__(self, message: str, code: ExitCode) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
