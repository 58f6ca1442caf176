"""``gradstep completion``: let a shell complete commands, options, files and leaves."""

from __future__ import annotations

import argparse
import importlib
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from gradstep.extras import how_to_install
from gradstep_tui.cli import COMMANDS
from gradstep_tui.command_line import TargetParser
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.options import Parser
from gradstep_tui.output import show

_SHELLS: Final = ("bash", "zsh", "fish")
_FILES: Final = ("FILE", "FOLDER", "A", "B", "RECORDING")
"""The words by which help calls files."""
_NOTES = f"""\
It needs shtab: {how_to_install("shtab")}

examples:
  gradstep completion bash > ~/.local/share/bash-completion/completions/gradstep
  gradstep completion zsh > ~/.zfunc/_gradstep     (~/.zfunc must be in $fpath)
  gradstep completion fish > ~/.config/fish/completions/gradstep.fish
"""
_LEAVES: Final = {
    "bash": """_gradstep_leaves() {
  local all
  all=$(gradstep completion --leaves "${COMP_WORDS[COMP_CWORD-1]}" 2>/dev/null)
  compgen -W "$all" -- "$1"
}""",
    "zsh": """_gradstep_leaves() {
  compadd -- ${(f)"$(gradstep completion --leaves ${words[CURRENT-1]} 2>/dev/null)"}
}""",
    "fish": """function _gradstep_leaves
  gradstep completion --leaves (commandline -opc)[-1] 2>/dev/null
end""",
}
"""How each shell asks for the leaves of the recording that stands before the cursor."""


def parser() -> Parser:
    """Return the options of ``gradstep completion``."""
    command = Parser(
        "completion",
        "SHELL",
        "Print a script that lets a shell (bash, zsh or fish) complete gradstep's "
        "commands,\noptions and files, and the leaves of a recording after gradstep why.",
        _NOTES,
    )
    command.add_argument("shell", nargs="?", choices=_SHELLS, metavar="SHELL", help="the shell")
    command.add_argument("--leaves", metavar="FILE", help=argparse.SUPPRESS)
    return command


def run(options: argparse.Namespace) -> ExitCode:
    """Carry out ``gradstep completion``."""
    if options.leaves is not None:
        for name in _leaves_of(Path(options.leaves)):
            show(name)
        return ExitCode.FINE
    if options.shell is None:
        raise Failure(f"completion: name a shell: {', '.join(_SHELLS)}", ExitCode.USAGE)
    if find_spec("shtab") is None:
        raise Failure(f"completion needs shtab: {how_to_install('shtab')}", ExitCode.USAGE)
    import shtab  # an extra

    show(shtab.complete(_whole(), options.shell))
    return ExitCode.FINE


def _leaves_of(path: Path) -> list[str]:
    """Return the leaves of a recording; nothing is said where it is none."""
    # a shell that completes an option need not load what reads recordings
    from gradstep.recording.errors import RecordingError
    from gradstep.recording.reading import FileRun

    try:
        with FileRun(path) as facts:
            return [leaf.name for leaf in facts.leaves]
    except (RecordingError, OSError):
        return []


def _whole() -> argparse.ArgumentParser:
    """Return one parser of all commands, which says what files complete."""
    from shtab import FILE  # an extra

    whole = argparse.ArgumentParser(prog="gradstep", add_help=False)
    commands = whole.add_subparsers()
    for name in COMMANDS:
        own: Parser = importlib.import_module(f"gradstep_tui.commands.{name}").parser()
        about = re.split(r"[.,;:]|\n\n", own.description or "")[0].replace("\n", " ")
        command = commands.add_parser(name, help=about, parents=[own], add_help=False)
        if isinstance(own, TargetParser):
            command.add_argument("target", nargs="?")
        for action in command._actions:
            if action.metavar in _FILES or action.dest in ("target", "output"):
                action.complete = FILE  # type: ignore[attr-defined]
        if name == "why":
            leaf = command.add_argument("leaf", nargs="?")
            leaf.complete = {  # type: ignore[attr-defined]
                "bash": "_gradstep_leaves", "zsh": "_gradstep_leaves",
                "fish": "(_gradstep_leaves)", "preamble": _LEAVES,
            }  # fmt: skip
    return whole
