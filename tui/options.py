"""What the command takes: the options of each subcommand."""

from __future__ import annotations

import argparse
from typing import Any, NoReturn

from tui import usage
from tui.exit_codes import ExitCode, Failure

_CALL_HELP = (
    "which backward() call of a script: 1 (default), 2, ... or last; grad:1, grad:2, ... or "
    "grad:last are the calls of autograd.grad()"
)
FORMATS = ("svg", "html", "png", "pdf", "dot", "json", "mermaid", "txt")


class _Help(argparse.RawDescriptionHelpFormatter):
    """As wide as the texts above, which are not wrapped."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=20, width=79)


class Parser(argparse.ArgumentParser):
    """Errors in our form, and no guessing at shortened options, which may be the script's."""

    def __init__(self, **keywords: Any) -> None:
        super().__init__(allow_abbrev=False, add_help=False, formatter_class=_Help, **keywords)

    def error(self, message: str) -> NoReturn:
        command = self.prog.removeprefix("gradstep").strip()
        about = f"{command}: " if command else ""
        raise Failure(f"{about}{message}; {self.prog} --help shows the usage", ExitCode.USAGE)


def command_parser() -> Parser:
    """The parser of the whole command."""
    parser = Parser(
        prog="gradstep",
        usage="gradstep COMMAND ...",
        description=usage.MAIN,
        epilog=usage.MAIN_NOTES,
    )
    commands = parser.add_subparsers(
        prog="gradstep",
        dest="command",
        metavar="COMMAND",
        required=True,
        parser_class=Parser,
        help=argparse.SUPPRESS,
    )
    _finish(_add_render(commands))
    _finish(_add_film(commands))
    _finish(_add_debug(commands))
    _finish(_add_check(commands))
    _finish(_add_ops(commands), "?", "NAME")
    _finish(_add_embed(commands), "+", "FILE")
    options = parser.add_argument_group("options")
    options.add_argument("-h", "--help", action="help", help="show this")
    options.add_argument("--version", action=_ShowVersion, nargs=0, help="show the version")
    return parser


def _finish(command: Parser, nargs: Any = None, target: str = "TARGET") -> None:
    command.add_argument("target", metavar=target, nargs=nargs, help=argparse.SUPPRESS)
    known = [name for name in command._option_string_actions if name.startswith("--")]
    command.set_defaults(parser=command, known=known)


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


def _words(text: str) -> list[str]:
    """Words between commas."""
    return [word.strip() for word in text.split(",") if word.strip()]


_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


def _seconds(text: str) -> float:
    """A time from a hundredth of a second up."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.01 <= number <= 3600:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds")
    return number


def _size(text: str) -> int:
    """A number of bytes, such as 500M."""
    digits, unit = (text[:-1], text[-1:].upper()) if text[-1:].isalpha() else (text, "")
    if not digits.isdecimal() or unit not in ("", *_UNITS):
        raise argparse.ArgumentTypeError(f"'{text}' is no size, such as 500M or 4G")
    return int(digits) * _UNITS.get(unit, 1)


def _add_render(commands: argparse._SubParsersAction[Parser]) -> Parser:
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
        "(without it: as the suffix of FILE says); png and pdf need a font, and resvg-py and "
        "svg2pdf-py, or Graphviz's dot")  # fmt: skip
    add("--view", choices=("forward", "backward", "both"), default="both", metavar="VIEW",
        help="forward, backward, or both (default)")  # fmt: skip
    add("--call", default="1", metavar="K", help=_CALL_HELP)
    add("--leaves", action="store_true", default=None, help="give every leaf a box of its own")
    add("--layout", choices=("own", "graphviz"), default="own", metavar="LAYOUT",
        help="who places the boxes: own (default), or graphviz")  # fmt: skip
    add("--theme", choices=("auto", "light", "dark"), default="auto", metavar="THEME",
        help="light, dark, or auto (default), which follows the reader's system")  # fmt: skip
    add("--title", metavar="TEXT", help="title of the picture")
    add("--magnitude", action=argparse.BooleanOptionalAction,
        help="show how large gradients are, on a log scale (without either: where they spread "
        "over more than a factor of 100)")  # fmt: skip
    add("--profile", dest="profiled", action="store_true",
        help="show how long ops and nodes took, and how many bytes they made")  # fmt: skip
    add("--legend", action="store_true", help="explain colours, lines and marks below the picture")
    add("--link", metavar="URL", help="lead from boxes to the lines of the program: "
        "vscode://file/{path}:{line}, or https://host/repo/blob/main/{path}#L{line}")  # fmt: skip
    add("-h", "--help", action="help", help="show this")
    _add_extent(command)
    return command


def _add_extent(command: Parser) -> None:
    """How much of a graph is drawn, and how finely."""
    group = command.add_argument_group(
        "large graphs",
        "Modules, scopes, repeats and loops are folded until 60 boxes are enough, or\n"
        "40 for the view of both halves, and further where a picture could not be\n"
        "read whole on a screen.",
    )
    add = group.add_argument
    add("--max-boxes", type=_number, metavar="N", help="how many boxes are enough")
    add("--depth", type=_number, metavar="N", help="open modules down to this depth, no further")
    add("--expand", action="append", default=[], metavar="NAME",
        help="open this module or scope (layers.3), or this round of a loop (t=3); "
        "may be repeated")  # fmt: skip
    add("--full", action="store_true", help="fold nothing")
    add("--around", metavar="NODE", help="draw only what is near a node, given by its address "
        "(encoder.0/addmm:2), an op, a scope or the name of a leaf")  # fmt: skip
    add("--hops", type=_number, metavar="K", help="how near: so many edges (2)")
    add("--path", metavar="A..B", help="draw only the ways between two nodes "
        "(loss..fc1.weight)")  # fmt: skip


def _add_film(commands: argparse._SubParsersAction[Parser]) -> Parser:
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
    add("--call", default="1", metavar="K", help=_CALL_HELP)
    add("--seconds", type=_seconds, default=1.5, metavar="S",
        help="how long a frame lasts (1.5)")  # fmt: skip
    add("--leaves", action="store_true", default=None, help="give every leaf a box of its own")
    add("--theme", choices=("auto", "light", "dark"), default="auto", metavar="THEME",
        help="light, dark, or auto (default), which follows the reader's system")  # fmt: skip
    add("--title", metavar="TEXT", help="title of the film")
    add("-h", "--help", action="help", help="show this")
    return command


def _add_debug(commands: argparse._SubParsersAction[Parser]) -> Parser:
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
        "a number (#12), a line (train.py:12), with a condition behind it if need be "
        "('mul if rms > 10', 'if nan'); may be repeated")  # fmt: skip
    add("--call", metavar="K", help="open in this backward() call only: "
        "1, 2, ...; grad:1, grad:2, ... are the calls of autograd.grad()")  # fmt: skip
    add("--grad", action="store_true", help="open in each call of autograd.grad() too")
    add("-x", dest="commands", metavar="FILE", help="carry out the commands in FILE first")
    add("--batch", action="store_true", help="open no screen: carry out FILE, and go on")
    add("--history", type=_size, metavar="SIZE", help="how much memory the recording may take "
        "(1G); what does not fit runs again when it is looked at")  # fmt: skip
    add("--fail-on", metavar="CONDITION", help="with --batch: end with exit code 5, and the node, "
        "at the first gradient that is so, in any call: nan,inf or 'zero, rms>1e3'")  # fmt: skip
    add("-h", "--help", action="help", help="show this")
    return command


def _add_check(commands: argparse._SubParsersAction[Parser]) -> Parser:
    command = commands.add_parser(
        "check",
        usage="gradstep check [OPTIONS] TARGET [ARGS...]",
        description="Hold the derivative rule of every node to differences, and look the graph "
        f"over for\nmistakes; of a script, that of its first backward() call. The script ends "
        f"there.\n\n{usage.TARGET}",
        epilog=usage.CHECK_NOTES,
    )
    add = command.add_argument_group("options").add_argument
    add("--call", default="1", metavar="K", help=_CALL_HELP)
    add("--ignore", type=_words, default=[], metavar="CODES",
        help="leave out findings of these kinds, such as stale-grad,unreached")  # fmt: skip
    add("--all", dest="everything", action="store_true",
        help="list what is right too, and what is only good to know")  # fmt: skip
    add("-q", dest="quiet", action="store_true", help="one line for each thing that is wrong")
    add("-h", "--help", action="help", help="show this")
    return command


def _add_ops(commands: argparse._SubParsersAction[Parser]) -> Parser:
    command = commands.add_parser(
        "ops",
        usage="gradstep ops [OPTIONS] [NAME]",
        description="List the ops: signature, derivative, and what is saved for it; or show one.\n"
        "NAME is an op (mul) or a node (MulBackward0).",
        epilog=usage.OPS_NOTES,
    )
    add = command.add_argument_group("options").add_argument
    add("--code", action="store_true", help="show what the entry of NAME is compiled to")
    add("-h", "--help", action="help", help="show this")
    return command


def _add_embed(commands: argparse._SubParsersAction[Parser]) -> Parser:
    command = commands.add_parser(
        "embed",
        usage="gradstep embed [OPTIONS] FILE...",
        description="Bring pictures and output in Markdown files up to date, by the gradstep "
        "commands\nthat stand there between comments.",
        epilog=usage.EMBED_NOTES,
    )
    add = command.add_argument_group("options").add_argument
    add("--check", action="store_true", help="change nothing; say what is stale, and end with "
        "exit code 5 if anything is")  # fmt: skip
    add("-h", "--help", action="help", help="show this")
    return command
