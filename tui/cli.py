"""The ``gradstep`` command: which subcommand is meant, and how it ends."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from tui import output, ranks
from tui.errors import Answered, ExitCode, Failure, exit_code_of, is_message_of_script
from tui.options import Parser
from tui.output import say

COMMANDS = ("render", "film", "debug", "why", "check", "ops", "embed")
"""The subcommands, each a module of :mod:`tui.commands`: ``parser()`` and ``run(options)``."""

_WITH_TARGET = ("render", "film", "debug", "why", "check")
_MAIN = """\
Draw computation graphs and step through backward passes.

commands:
  render      draw the graph of a tensor or of a script's backward() call
  film        animate a pass: the graph is built, then gradients flow back
  debug       step through the backward() calls of a script
  why         explain the gradient of one leaf
  check       check derivatives numerically and find common mistakes
  ops         list the ops and their derivatives
  embed       update the pictures in Markdown files
"""
_NOTES = """\
examples:
  gradstep render train.py                      draw the first backward() call
  gradstep render train.py:loss -o loss.svg     draw a tensor
  gradstep debug train.py                       step forward and back
  gradstep why train.py fc1.weight              explain one gradient
  gradstep check train.py                       find wrong derivatives
  gradstep COMMAND --help                       show the options of a command

exit codes: 0 success, 1 the script failed, 2 wrong usage, 3 no such target or
no graph, 4 no renderer for that format, 5 a check found something
"""


Run = Callable[[argparse.Namespace], ExitCode]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code that the process is to end with."""
    output.begin(ranks.prefix())
    return output.end(_run(sys.argv[1:] if arguments is None else list(arguments)))


def _run(arguments: list[str]) -> ExitCode:
    try:
        run, options = _parse(arguments)
        return run(options)
    except Answered:
        return ExitCode.FINE
    except KeyboardInterrupt:
        say("interrupted")
        return ExitCode.INTERRUPTED
    except Exception as error:
        code = exit_code_of(error)
        if code is None:
            raise
        if is_message_of_script(error):
            output.relay(str(error))
        else:
            say(str(error))
        return code


def _parse(arguments: list[str]) -> tuple[Run, argparse.Namespace]:
    """Parse options before and after TARGET. Unknown ones after it, and everything after ``--``,
    are the script's."""
    verbatim: list[str] = []
    if "--" in arguments:
        cut = arguments.index("--")
        arguments, verbatim = arguments[:cut], arguments[cut + 1 :]
    _require_command(arguments)
    name, *arguments = arguments
    command = importlib.import_module(f"tui.commands.{name}")
    parser = command.parser()
    options, others = _parse_known(parser, arguments)
    before = arguments
    if name in _WITH_TARGET:
        before = arguments[: arguments.index(options.target)]
    for other in others:
        word = other.partition("=")[0]
        hint = _did_you_mean(word, parser.known, cutoff=0.7)
        if other in before:
            parser.error(f"there is no option {word}" + (f", {hint}" if hint else ""))
        if hint and word.startswith("--"):
            say(f"{word} goes to the script; {hint}")
    options.arguments = [*others, *verbatim]
    return command.run, options


def _parse_known(parser: Parser, arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Our options, and what we do not know; ``-m MODULE`` stands where a TARGET would."""
    if "-m" in arguments[:-1]:
        at = arguments.index("-m")
        name = arguments[at + 1]
        options, others = parser.parse_known_args([*arguments[:at], *arguments[at + 1 :]])
        if options.target == name:  # else it stands behind TARGET, and is the script's
            options.module = True
            return options, others
    options, others = parser.parse_known_args(arguments)
    options.module = False
    return options, others


def _did_you_mean(word: str, words: Iterable[str], cutoff: float = 0.6) -> str:
    # imported late: it takes NumPy with it, for which --help need not wait
    from autograd_core.text import did_you_mean

    return did_you_mean(word, words, cutoff=cutoff)


def _require_command(arguments: list[str]) -> None:
    """See that the first word is a command; ``--help`` and ``--version`` end here."""
    word = arguments[0] if arguments else ""
    if word in COMMANDS:
        return
    if word.startswith("-"):
        _main_parser().parse_args(arguments)
    if not word or word.startswith("-"):
        problem = "no command given."
    elif ".py" in word:
        problem = f"no command given for {word}."
    else:
        hint = _did_you_mean(word, COMMANDS)
        problem = f"there is no command '{word}'{f', {hint}' if hint else '.'}"
    raise Failure(
        f"{problem} (render draws a graph, debug steps through backward(); gradstep --help lists "
        "all commands)",
        ExitCode.USAGE,
    )


def _main_parser() -> Parser:
    parser = Parser(prog="gradstep", usage="gradstep COMMAND ...", description=_MAIN, epilog=_NOTES)
    options = parser.add_argument_group("options")
    options.add_argument("-h", "--help", action="help", help="show this")
    options.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version")
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
