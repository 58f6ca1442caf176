"""Failures of the command and the screen: one message, and an exit code for each kind."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of the process, beside those of the user's own program."""

    FINE = 0
    SCRIPT_FAILED = 1  # as Python has it for an exception
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


class Answered(Exception):
    """All that was asked for is said: --help or --version."""


class AtWork(Exception):
    """The session cannot be asked now; the text is for the user."""
