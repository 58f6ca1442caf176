"""Everything that can go wrong while a user's program is run.

ProgramError            what is wrong, and the remedy
├── BadTarget           a text that is not a TARGET, or not a choice of calls
├── NeedsArguments      a function or module that cannot be called as it is
├── ScriptFailed        the user's code raised
└── ScriptExited        the user's code ended the process with an error
ScriptDone              not an error: ends a script from inside its ``backward()``
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gradstep.program.tracebacks import call_hook, user_traceback

if TYPE_CHECKING:
    from gradstep.findings.finding import Finding


class ProgramError(Exception):
    """A program that cannot be run, or that does not lead to a graph.

    >>> print(ProgramError("train.py does not exist", remedy="did you mean trian.py?"))
    train.py does not exist; did you mean trian.py?
    """

    def __init__(self, what: str, *, remedy: str = "") -> None:
        super().__init__(f"{what}; {remedy}" if remedy else what)
        self.what = what
        self.remedy = remedy


class BadTarget(ProgramError):
    """A text that does not have the form that is asked for."""


class NeedsArguments(ProgramError):
    """A function or module that cannot be called as it is; ``missing`` names its arguments."""

    def __init__(self, missing: list[str], remedy: str) -> None:
        super().__init__(f"needs arguments ({', '.join(missing)})", remedy=remedy)
        self.missing = missing


class ScriptFailed(ProgramError):
    """An exception of the user's code; the message is the traceback that Python would print, up to
    the program's own line where a ``note`` or ``findings`` say why the engine refused a pass."""

    def __init__(
        self, error: BaseException, note: str = "", findings: tuple[Finding, ...] = ()
    ) -> None:
        note = note or ("" if findings else getattr(error, "gradstep_note", ""))
        shown = user_traceback(error, into_libraries=not (findings or note))
        super().__init__(f"{shown}{note and f' ({note})'}")
        self.error, self.note, self.findings = error, note, findings
        self._hook = sys.excepthook

    def tell_by_hook(self) -> bool:
        """Let the program's own ``sys.excepthook`` tell of it, as Python would; returns whether
        there is one."""
        if self._hook is sys.__excepthook__:
            return False
        call_hook(self._hook, self.error)
        return True


class ScriptExited(ProgramError):
    """A ``sys.exit(code)`` of the user's code whose code says that something failed."""

    def __init__(self, code: object) -> None:
        # Python itself prints a code that is not a number.
        text = f"the script ended with exit code {code}" if isinstance(code, int) else str(code)
        super().__init__(text)
        self.code = code


class ScriptDone(BaseException):
    """Ends a script from inside its ``backward()``; no ``except Exception`` of it stops this."""

    def __init__(self) -> None:
        super().__init__("gradstep has what it needs, and ends the script here")
