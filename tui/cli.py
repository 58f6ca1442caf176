"""The ``gradstep`` command: one function per subcommand."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from tui import usage
from tui.failure import ExitCode, Failure, ScriptFailed

_COMMANDS = ("render", "film", "debug")
FORMATS = ("svg", "html", "png", "pdf", "dot", "json", "mermaid", "txt")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code that the process is to end with."""
    try:
        _check_packages()
        options = _parse(sys.argv[1:] if arguments is None else list(arguments))
        options.run(options)
    except ScriptFailed as failure:
        print(failure.message, file=sys.stderr)
        return failure.code
    except Failure as failure:
        _say(failure.message)
        return failure.code
    except BrokenPipeError:
        _silence_stdout()
    except KeyboardInterrupt:
        _say("interrupted")
        return ExitCode.INTERRUPTED
    return ExitCode.FINE


def _say(text: str) -> None:
    print(f"gradstep: {text}", file=sys.stderr)


def _silence_stdout() -> None:
    """Whoever read our output has had enough; nothing may be written at exit either."""
    with suppress(OSError):  # it may be no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Help(argparse.RawDescriptionHelpFormatter):
    """As wide as the texts above, which are not wrapped."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=20, width=79)


class _Parser(argparse.ArgumentParser):
    """Errors in our form, and no guessing at shortened options, which may be the script's."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(allow_abbrev=False, add_help=False, formatter_class=_Help, **keywords)

    def error(self, message: str) -> NoReturn:
        command = self.prog.removeprefix("gradstep").strip()
        about = f"{command}: " if command else ""
        raise Failure(f"{about}{message}; {self.prog} --help shows the usage", ExitCode.USAGE)


def _parse(arguments: list[str]) -> argparse.Namespace:
    """Our options stand before or behind TARGET; behind it, what we do not know is the script's,
    and so is everything after ``--``."""
    verbatim: list[str] = []
    if "--" in arguments:
        cut = arguments.index("--")
        arguments, verbatim = arguments[:cut], arguments[cut + 1 :]
    _require_command(arguments)
    options, others = _parser().parse_known_args(arguments)
    before = arguments[: arguments.index(options.target)]
    for other in others:
        word = other.partition("=")[0]
        likely = get_close_matches(word, options.known, n=1, cutoff=0.7)
        hint = f"did you mean {likely[0]}?" if likely else ""
        if other in before:
            options.parser.error(f"there is no option {word}" + (f", {hint}" if hint else ""))
        if hint and word.startswith("--"):
            _say(f"{word} goes to the script; {hint}")
    options.arguments = [*others, *verbatim]
    return options


def _require_command(arguments: list[str]) -> None:
    word = arguments[0] if arguments else ""
    if word in _COMMANDS or word.startswith("-"):
        return
    if not word:
        problem = "which command?"
    elif ".py" in word:
        problem = f"what is to be done with {word}?"
    else:
        near = get_close_matches(word, _COMMANDS, n=1)
        problem = f"there is no command '{word}'{f', did you mean {near[0]}?' if near else '.'}"
    raise Failure(
        f"{problem} (render draws a graph, debug steps through backward(); gradstep --help says "
        "more)",
        ExitCode.USAGE,
    )


def _parser() -> _Parser:
    parser = _Parser(
        prog="gradstep",
        usage="gradstep COMMAND ...",
        description=usage.MAIN,
        epilog=usage.MAIN_NOTES,
    )
    commands = parser.add_subparsers(
        prog="gradstep",
        metavar="COMMAND",
        required=True,
        parser_class=_Parser,
        help=argparse.SUPPRESS,
    )
    _finish(_add_render(commands), render)
    _finish(_add_film(commands), film)
    _finish(_add_debug(commands), debug)
    options = parser.add_argument_group("options")
    options.add_argument("-h", "--help", action="help", help="show this")
    options.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version")
    return parser


def _finish(command: _Parser, run: Any) -> None:
    command.add_argument("target", metavar="TARGET", help=argparse.SUPPRESS)
    known = [name for name in command._option_string_actions if name.startswith("--")]
    command.set_defaults(run=run, parser=command, known=known)


class _ShowVersion(argparse.Action):
    """Looks the version up only when it is asked for: that takes 30 ms."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("gradstep")
        except PackageNotFoundError:
            number = "(not installed)"
        print(f"gradstep {number}")
        parser.exit()


def _number(text: str) -> int:
    """A number from 1 on."""
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is no number from 1 on")
    return int(text)


def _number_or_last(text: str) -> int | None:
    """A number from 1 on, or None for "last"."""
    if not text.isdecimal() and text != "last":
        raise argparse.ArgumentTypeError(f"'{text}' is neither a number from 1 on nor 'last'")
    return None if text == "last" else _number(text)


def _seconds(text: str) -> float:
    """A time from a hundredth of a second up."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.01 <= number <= 3600:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds")
    return number


def _add_render(commands: argparse._SubParsersAction[_Parser]) -> _Parser:
    command = commands.add_parser(
        "render",
        usage="gradstep render [OPTIONS] TARGET [ARGS...]",
        description="Draw a graph; of a script, that of its first backward() call, with the\n"
        f"gradients that flow. The script ends there.\n\n{usage.TARGET}",
        epilog=usage.RENDER_NOTES,
    )
    add = command.add_argument_group("options").add_argument
    add("-o", dest="output", metavar="FILE", help="what to write, - for standard output "
        "(without it: the name of TARGET with .svg, in this directory)")  # fmt: skip
    add("--output", help=argparse.SUPPRESS)
    add("--format", choices=FORMATS, metavar="FORMAT", help=f"{', '.join(FORMATS)} "
        "(without it: as the suffix of FILE says); png and pdf need Graphviz's dot")  # fmt: skip
    add("--view", choices=("forward", "backward", "both"), default="both", metavar="VIEW",
        help="forward, backward, or both (default)")  # fmt: skip
    add("--call", type=_number_or_last, default=1, metavar="K",
        help="which backward() call of a script: 1 (default), 2, ... or last")  # fmt: skip
    add("--leaves", action="store_true", default=None, help="give every leaf a box of its own")
    add("--layout", choices=("auto", "graphviz", "own"), default="auto", metavar="LAYOUT",
        help="who places the boxes: graphviz, own, or auto (default)")  # fmt: skip
    add("--theme", choices=("auto", "light", "dark"), default="auto", metavar="THEME",
        help="light, dark, or auto (default), which follows the reader's system")  # fmt: skip
    add("--title", metavar="TEXT", help="title of the picture")
    add("-h", "--help", action="help", help="show this")
    return command


def _add_film(commands: argparse._SubParsersAction[_Parser]) -> _Parser:
    command = commands.add_parser(
        "film",
        usage="gradstep film [OPTIONS] TARGET [ARGS...]",
        description="Film a backward pass: how the forward pass builds the graph, and how the\n"
        f"gradients then run back through it.\n\n{usage.TARGET}",
        epilog=usage.FILM_NOTES,
    )
    add = command.add_argument_group("options").add_argument
    add("-o", dest="output", metavar="FILE", help="an .svg, which plays by itself; an .html, "
        "with a scrubber; or a directory, for one svg per frame (without it: the name of TARGET "
        "with .svg, in this directory)")  # fmt: skip
    add("--output", help=argparse.SUPPRESS)
    add("--view", choices=("forward", "backward", "both"), default="both", metavar="VIEW",
        help="forward, how the graph is built; backward, how the gradients run; or both "
        "(default)")  # fmt: skip
    add("--call", type=_number_or_last, default=1, metavar="K",
        help="which backward() call of a script: 1 (default), 2, ... or last")  # fmt: skip
    add("--seconds", type=_seconds, default=1.5, metavar="S",
        help="how long a frame lasts (1.5)")  # fmt: skip
    add("--leaves", action="store_true", default=None, help="give every leaf a box of its own")
    add("--theme", choices=("auto", "light", "dark"), default="auto", metavar="THEME",
        help="light, dark, or auto (default), which follows the reader's system")  # fmt: skip
    add("--title", metavar="TEXT", help="title of the film")
    add("-h", "--help", action="help", help="show this")
    return command


def _add_debug(commands: argparse._SubParsersAction[_Parser]) -> _Parser:
    command = commands.add_parser(
        "debug",
        usage="gradstep debug [OPTIONS] TARGET [ARGS...]",
        description="Run a script, and open the debugger inside each of its backward() calls.\n\n"
        f"{usage.TARGET}",
        epilog=usage.DEBUG_NOTES,
    )
    add = command.add_argument_group("options").add_argument
    add("--break", dest="breakpoints", action="append", default=[], metavar="PLACE",
        help="set a breakpoint: an op (mul), an address (encoder.0/addmm:2), a scope, a leaf, "
        "a position (#12), a line (train.py:12), with a condition behind it if need be "
        "('mul if rms > 10', 'if nan'); may be repeated")  # fmt: skip
    add("--call", type=_number, metavar="K", help="open in this backward() call only: 1, 2, ...")
    add("-x", dest="commands", metavar="FILE", help="carry out the commands in FILE first")
    add("--batch", action="store_true", help="open no screen: carry out FILE, and go on")
    add("--fail-on", metavar="CONDITION", help="with --batch: end with exit code 5, and the node, "
        "at the first gradient that is so, in any call: nan,inf or 'zero, rms>1e3'")  # fmt: skip
    add("-h", "--help", action="help", help="show this")
    return command


def render(options: argparse.Namespace) -> None:
    """``gradstep render``."""
    from tui.drawing import render_target

    notes = render_target(
        options.target,
        options.arguments,
        output=options.output,
        format=options.format,
        view=options.view,
        call=options.call,
        theme=options.theme,
        layout=options.layout,
        leaves=options.leaves,
        title=options.title,
    )
    for note in notes:
        _say(note)


def film(options: argparse.Namespace) -> None:
    """``gradstep film``."""
    from tui.filming import film_target

    notes = film_target(
        options.target,
        options.arguments,
        output=options.output,
        view=options.view,
        call=options.call,
        theme=options.theme,
        leaves=options.leaves,
        seconds=options.seconds,
        title=options.title,
    )
    for note in notes:
        _say(note)


def debug(options: argparse.Namespace) -> None:
    """``gradstep debug``."""
    from tui.debugging import debug_target

    debug_target(
        options.target,
        options.arguments,
        places=options.breakpoints,
        call=options.call,
        commands=options.commands,
        batch=options.batch,
        fail_on=options.fail_on,
    )


def _check_packages() -> None:
    """Our packages have generic names: make sure that Python finds ours."""
    ours = Path(__file__).resolve().parent.parent
    for name in ("autograd_core", "viz"):
        spec = importlib.util.find_spec(name)
        file = None if spec is None else spec.origin
        if file is None or Path(file).resolve().parent.parent != ours:
            raise Failure(
                f"the package {name} that Python finds is not gradstep's but {file}; move that "
                "out of the way, or install gradstep in an environment of its own",
                ExitCode.TARGET,
            )


if __name__ == "__main__":
    sys.exit(main())
