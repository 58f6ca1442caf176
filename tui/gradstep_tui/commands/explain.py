"""``gradstep explain``: what a finding of ``check`` means."""

from __future__ import annotations

import argparse

from gradstep.findings.explanations import MEANINGS, explanation
from gradstep.text import did_you_mean
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.options import Parser
from gradstep_tui.output import show

_NOTES = """\
examples:
  gradstep explain stale-grad
  gradstep explain
"""


def parser() -> Parser:
    """Return the options of ``gradstep explain``."""
    command = Parser(
        "explain",
        "[CODE]",
        "Explain a finding of gradstep check, with a wrong and a right program, and when\n"
        "to ignore it. Without CODE, explain all findings.",
        _NOTES,
    )
    command.add_argument("code", nargs="?", metavar="CODE", help="such as stale-grad")
    return command


def run(options: argparse.Namespace) -> int:
    """Carry out ``gradstep explain``."""
    if options.code is None:
        show("\n\n".join(map(explanation, MEANINGS)))
        return ExitCode.FINE
    code = next((code for code in MEANINGS if code == options.code.strip("[]")), None)
    if code is None:
        hint = did_you_mean(options.code, MEANINGS)
        listed = hint or f"there are {', '.join(MEANINGS)}"
        raise Failure(f"there is no finding '{options.code}'; {listed}", ExitCode.USAGE)
    show(explanation(code))
    return ExitCode.FINE
