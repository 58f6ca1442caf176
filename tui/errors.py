"""Failures of the command and the screen: one message, and an exit code for each kind."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit codes of the process."""

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


class Answered(Exception):
    """All that was asked for is said: --help or --version."""


class AtWork(Exception):
    """The session cannot be asked now; the text is for the user."""


def exit_code_of(error: Exception) -> ExitCode | None:
    """Return the exit code for an error that a user can act on, None for a defect of this
    program."""
    if isinstance(error, Failure):
        return error.code
    # imported late: they take NumPy with them, for which --help need not wait
    from autograd_core.dag.errors import NotInGraph
    from autograd_core.program import errors as program
    from viz import errors as viz

    codes: list[tuple[tuple[type[Exception], ...], ExitCode]] = [
        ((program.ScriptFailed, program.ScriptExited), ExitCode.SCRIPT_FAILED),
        ((program.BadTarget,), ExitCode.USAGE),
        ((program.ProgramError, viz.NothingToDraw, NotInGraph), ExitCode.TARGET),
        ((viz.RendererUnavailable, viz.RenderingFailed), ExitCode.NO_RENDERER),
        ((viz.VizError,), ExitCode.USAGE),
    ]
    return next((code for kinds, code in codes if isinstance(error, kinds)), None)


def is_message_of_script(error: Exception) -> bool:
    """Return whether the text of ``error`` is what Python would have printed for the user's
    program."""
    if isinstance(error, Failure):
        return False
    from autograd_core.program.errors import ScriptExited, ScriptFailed  # late, as above

    exited_with_text = isinstance(error, ScriptExited) and not isinstance(error.code, int)
    return exited_with_text or isinstance(error, ScriptFailed)
