"""``gradstep schema``: what the JSON of a command looks like."""

from __future__ import annotations

import argparse
from importlib.resources import files
from typing import Final

from gradstep_tui.errors import ExitCode
from gradstep_tui.options import Parser
from gradstep_tui.output import show

_SCHEMAS: Final = {
    "check": ("gradstep.findings", "report.schema.json"),
    "debug": ("gradstep.console", "reply.schema.json"),
}
_NOTES = """\
examples:
  gradstep schema check > report.schema.json
"""


def parser() -> Parser:
    """Return the options of ``gradstep schema``."""
    command = Parser(
        "schema",
        "COMMAND",
        "Print the JSON schema of what a command prints with --format json.",
        _NOTES,
    )
    command.add_argument(
        "of", choices=[*_SCHEMAS], metavar="COMMAND", help=f"one of {', '.join(_SCHEMAS)}"
    )
    return command


def run(options: argparse.Namespace) -> int:
    """Carry out ``gradstep schema``."""
    package, name = _SCHEMAS[options.of]
    show(files(package).joinpath(name).read_text("utf-8"), end="")
    return ExitCode.FINE
