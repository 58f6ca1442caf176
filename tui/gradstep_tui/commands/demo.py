"""``gradstep demo``: small programs with a bug, to try the other commands on."""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from gradstep.guest.own_files import FOLDER
from gradstep.text import did_you_mean
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.options import Parser
from gradstep_tui.output import flush, say, show

_NOTES = """\
Each program comes with a file of debugger commands that find its bug. demo
does not replace a program of yours with the same name. If PyTorch is not
installed, the programs use gradstep's own small engine instead.

examples:
  gradstep demo
  gradstep demo nan_from_sqrt
  gradstep demo --list
"""
_FIRST: Final = "replaced_head"


def parser() -> Parser:
    """Return the options of ``gradstep demo``."""
    command = Parser(
        "demo",
        "[OPTIONS] [NAME]",
        "Copy small programs with a bug into a folder, and run gradstep check on one of\nthem.",
        _NOTES,
    )
    add = command.option
    add("--list", action="store_true", help="only list the programs")
    add("-o", dest="output", metavar="FOLDER", default="gradstep-demo",
        help="where to put them (default: gradstep-demo)")  # fmt: skip
    command.add_argument("name", nargs="?", metavar="NAME", help="the program to check")
    return command


def run(options: argparse.Namespace) -> ExitCode:
    """Carry out ``gradstep demo``."""
    programs = {path.stem: path for path in sorted(_folder().glob("*.py"))}
    if options.list:
        width = max(map(len, programs))
        for name, path in programs.items():
            show(f"{name:{width}}  {_title(path)}")
        return ExitCode.FINE
    name = options.name or _FIRST
    if name not in programs:
        hint = did_you_mean(name, programs) or "gradstep demo --list shows them"
        raise Failure(f"there is no program '{name}'; {hint}", ExitCode.USAGE)
    folder = Path(options.output)
    _copy(folder)
    _walk(folder / f"{name}.py", name)
    return ExitCode.FINE


def _folder() -> Path:
    """Return where the programs lie: in the package, or beside it in a clone."""
    installed = Path(FOLDER, "gradstep", "demos")
    return installed if installed.is_dir() else Path(FOLDER, "samples", "bugs")


def _title(path: Path) -> str:
    """Return the first line of what a program says of itself."""
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]


def _copy(folder: Path) -> None:
    """Copy all programs into a folder; nothing of the user's is replaced."""
    copied, has_torch = 0, find_spec("torch") is not None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(_folder().iterdir()):
            target = folder / path.name
            if path.suffix in (".py", ".commands", ".md") and not target.exists():
                text = path.read_text("utf-8")
                target.write_text(text if has_torch else on_the_core(text), "utf-8", newline="\n")
                copied += path.suffix == ".py"
    except OSError as error:
        problem = f"cannot write to {folder} ({error.strerror}); choose another folder with -o"
        raise Failure(problem, ExitCode.TARGET) from None
    if copied:
        engine = "" if has_torch else "; they use gradstep's own engine: PyTorch is not installed"
        say(f"copied {copied} programs to {folder}{engine}")


def on_the_core(program: str) -> str:
    """Return a program that imports ``torch``, with gradstep's own engine in its place."""
    program = re.sub(r"^import torch$", "import autograd_core as torch", program, flags=re.M)
    return re.sub(r"^(import|from) torch\b", r"\1 autograd_core", program, flags=re.M)


def _walk(path: Path, name: str) -> None:
    """Show a program, what ``gradstep check`` says of it, and what to type next."""
    show(f"{_title(path)}\n\n{path}:\n")
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        show(f"{number:4} | {line}".rstrip())
    show(f"\n$ gradstep check {path}")
    flush()
    subprocess.run([sys.executable, "-m", "gradstep", "check", str(path)], check=False)
    commands = path.with_suffix(".commands")
    show(
        f"\nLook further:\n"
        f"  gradstep render -o {name}.svg {path}\n"
        f"  gradstep debug {path}\n"
        f"  gradstep debug --batch -x {commands} {path}\n"
        "Other programs: gradstep demo --list"
    )
