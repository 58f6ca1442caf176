"""The ``gradstep`` command: which subcommand is meant, and how it ends."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from gradstep_tui import output, ranks
from gradstep_tui.ending import tell
from gradstep_tui.errors import Answered, ExitCode, Failure
from gradstep_tui.options import Parser

COMMANDS = (
    "render", "film", "debug", "why", "check", "explain", "schema", "record", "plot", "diff",
    "demo", "ops", "embed", "completion", "dap",
)  # fmt: skip
"""The subcommands; each is a module of ``commands`` with ``parser()`` and ``run(options)``."""

_MAIN = """\
Find out what is wrong with the gradients of a PyTorch program, draw its
computation graph, and step through its backward passes.

commands:
  check       run a script and report what is wrong with its gradients
  why         explain the gradient of one leaf
  debug       step through the backward() calls of a script
  render      draw the graph of a tensor or of a script's backward() call
  film        animate a pass: the graph is built, then gradients flow back
  record      record a run in a file
  plot        draw gradients, updates and loss over a run
  diff        find where two runs first differ
  explain     explain a finding of check
  demo        copy small programs with a bug, and check one of them
  ops         list the ops and their derivatives
  embed       update the pictures in Markdown files
  schema      print the schema of a command's JSON
  completion  print a completion script for your shell
  dap         debug in an editor, over the Debug Adapter Protocol
"""
_NOTES = """\
examples:
  gradstep demo                                 try it on a program with a bug
  gradstep check train.py                       find out what is wrong
  gradstep why train.py fc1.weight              explain one gradient
  gradstep debug train.py                       step forward and back
  gradstep render train.py                      draw the first backward() call
  gradstep render -o loss.svg train.py:loss     draw a tensor
  gradstep help COMMAND                         show the options of a command

exit codes: 0 success, or the script's own code; 2 wrong usage, 3 no such
target or no graph, 4 no renderer for that format, 5 a check found something,
or two runs differ
"""


Run = Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None, run: Run | None = None) -> int:
    """Carry out the command, by ``run`` where that is given; returns the exit code that the process
    is to end with."""
    output.begin(ranks.prefix())
    return output.end(_run(sys.argv[1:] if arguments is None else list(arguments), run))


def _run(arguments: list[str], run: Run | None) -> int:
    try:
        own, options = _parse(arguments)
        return (run or own)(options)
    except Answered:
        return ExitCode.FINE
    except (KeyboardInterrupt, Exception) as error:
        code = tell(error)
        if code is None:
            raise
        return code


def _parse(arguments: list[str]) -> tuple[Run, argparse.Namespace]:
    if arguments[:1] == ["help"]:
        arguments = [*arguments[1:2], "--help"]
    _require_command(arguments)
    name, *words = arguments
    command = importlib.import_module(f"gradstep_tui.commands.{name}")
    parser: Parser = command.parser()
    return command.run, parser.parse(words)


def _require_command(arguments: list[str]) -> None:
    """See that the first word is a command; ``--help`` and ``--version`` end here, and no word at
    all is ``--help``."""
    word, *_ = arguments = arguments or ["--help"]
    if word in COMMANDS:
        return
    if word.startswith("-"):
        _main_parser().parse_args([word])  # which ends it
    if ".py" in word:
        problem = f"no command given for {word}."
    else:
        from gradstep.text import did_you_mean  # takes NumPy with it: --help need not wait

        hint = did_you_mean(word, COMMANDS)
        problem = f"there is no command '{word}'{f', {hint}' if hint else '.'}"
    raise Failure(
        f"{problem} (check finds what is wrong, render draws a graph, debug steps through "
        "backward(); gradstep --help lists all commands)",
        ExitCode.USAGE,
    )


def _main_parser() -> Parser:
    parser = Parser("", "COMMAND ...", _MAIN, _NOTES)
    parser.option("--version", action=_ShowVersion, nargs=0, help="show the version")
    return parser


class _ShowVersion(argparse.Action):
    """Looks the version up only when it is asked for: that takes a while."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        # slow to load, and nothing else needs it
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("gradstep")
        except PackageNotFoundError:
            number = "(not installed)"
        output.show(f"gradstep {number}")
        parser.exit()
