"""The ``gradstep`` command: one function per subcommand."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NoReturn

from tui.failure import ExitCode, Failure

FORMATS = ("svg", "png", "pdf", "dot", "html", "json", "mermaid", "txt")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code that the process is to end with."""
    _check_packages()
    options = _parse(sys.argv[1:] if arguments is None else list(arguments))
    try:
        return int(options.run(options))
    except Failure as failure:
        _say(failure.message if failure.code == ExitCode.SCRIPT_FAILED else f"gradstep: {failure}")
        return failure.code
    except BrokenPipeError:
        # whoever read our output has had enough; nothing may be written at exit either
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.FINE
    except KeyboardInterrupt:
        _say("gradstep: interrupted")
        return 130


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _parse(arguments: list[str]) -> argparse.Namespace:
    """Our options stand before or behind TARGET; behind it, what we do not know is the script's,
    and so is everything after ``--``."""
    verbatim: list[str] = []
    if "--" in arguments:
        cut = arguments.index("--")
        arguments, verbatim = arguments[:cut], arguments[cut + 1 :]
    parser = _parser()
    options, others = parser.parse_known_args(arguments)
    target = arguments.index(options.target)
    for other in others:
        if other in arguments[:target]:
            parser.error(f"unknown option {other}")
    options.arguments = [*others, *verbatim]
    return options


class _Parser(argparse.ArgumentParser):
    """Errors in our form, and no guessing at shortened options, which may be the script's."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, allow_abbrev=False, **kwargs)

    def error(self, message: str) -> NoReturn:
        self.exit(ExitCode.USAGE, f"{self.prog}: {message}\n(try {self.prog} --help)\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="gradstep",
        description="Draw computation graphs, and step through their backward pass.",
    )
    parser.add_argument("--version", action="version", version=f"gradstep {_version()}")
    commands = parser.add_subparsers(
        title="commands", metavar="COMMAND", required=True, parser_class=_Parser
    )
    _add_render(commands)
    _add_debug(commands)
    return parser


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("gradstep")
    except PackageNotFoundError:
        return "(not installed)"


def _add_target(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "target",
        metavar="TARGET",
        help="a script (file.py), or a tensor, function or module: file.py:name, "
        "package.module:name",
    )
    command.epilog = (
        "Options may stand behind TARGET too; what gradstep does not know there is passed to the "
        "script, and so is everything after --."
    )


def _call_number(text: str) -> int | None:
    """``--call``: a number from 1 on, or "last" (None)."""
    if text == "last":
        return None
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is neither a number from 1 on nor 'last'")
    return int(text)


def _add_render(commands: argparse._SubParsersAction[_Parser]) -> None:
    command = commands.add_parser(
        "render",
        help="draw the graph of a tensor, or of a script's backward() call",
        usage="gradstep render [OPTIONS] TARGET [ARGS...]",
        description="Draw a graph. A script is run up to its first backward() call, whose graph "
        "is drawn with the gradients that flow.",
    )
    command.add_argument(
        "-o", "--output", metavar="FILE", help="file to write; its suffix says the format; "
        "- is standard output (default: the script's name with .svg, here)",
    )
    command.add_argument(
        "--view", choices=("forward", "backward", "both"), default="both", help="(default: both)"
    )
    command.add_argument("--format", choices=FORMATS, help="format, where the suffix does not say")
    command.add_argument(
        "--call", type=_call_number, default=1, metavar="K",
        help="which backward() call of the script to draw: 1, 2, ... or last (default: 1)",
    )
    command.add_argument("--title", help="title of the picture")
    command.add_argument("--theme", choices=("auto", "light", "dark"), default="auto")
    command.add_argument(
        "--layout", choices=("auto", "graphviz", "own"), default="auto",
        help="who places the boxes (default: the better one for this picture)",
    )
    command.add_argument(
        "--leaves", action="store_true", default=None, help="a box for every AccumulateGrad"
    )
    _add_target(command)
    command.set_defaults(run=render)


def _add_debug(commands: argparse._SubParsersAction[_Parser]) -> None:
    command = commands.add_parser(
        "debug",
        help="step through the backward() calls of a script",
        usage="gradstep debug [OPTIONS] TARGET [ARGS...]",
        description="Run a script, and halt inside each backward() call to step through it.",
    )
    command.add_argument(
        "--break", dest="breakpoints", action="append", default=[], metavar="PLACE",
        help="stop before these nodes: an op (mul), an address (encoder.0/addmm:2), a scope, "
        "a leaf; may be repeated",
    )
    command.add_argument(
        "--call", type=_call_number, default=0, metavar="K",
        help="halt only in this backward() call: 1, 2, ...",
    )
    command.add_argument(
        "-x", dest="commands", metavar="FILE", help="carry out the commands in FILE first"
    )
    command.add_argument(
        "--batch", action="store_true", help="no screen: carry out the commands of -x, and go on"
    )
    _add_target(command)
    command.set_defaults(run=debug)


def render(options: argparse.Namespace) -> int:
    """``gradstep render``."""
    import viz
    from tui.drawing import graph_of

    try:
        to_stdout = options.output == "-"
        output = options.output or f"{_stem(options.target)}.{options.format or 'svg'}"
        chosen = viz.rendering.choose_format(None if to_stdout else output, options.format)
        # only the picture may go to standard output; what the script prints goes to stderr
        with redirect_stdout(sys.stderr if to_stdout else sys.stdout):
            graph = graph_of(options.target, options.arguments, options.view, options.call)
        drawing = viz.render(
            graph, view=options.view, format=chosen, theme=options.theme,
            layout=options.layout, leaves=options.leaves, title=options.title,
        )
        for note in drawing.notes:
            _say(f"gradstep: {note}")
        if to_stdout:
            sys.stdout.buffer.write(drawing.data)
            sys.stdout.buffer.flush()
        else:
            drawing.save(output)
            _say(f"gradstep: wrote {output}")
    except viz.VizError as error:
        raise Failure(str(error), _code_of(error)) from None
    return ExitCode.FINE


def _code_of(error: Exception) -> ExitCode:
    from viz import errors

    if isinstance(error, errors.RendererUnavailable | errors.RenderingFailed):
        return ExitCode.NO_RENDERER
    if isinstance(error, errors.NothingToDraw):
        return ExitCode.TARGET
    return ExitCode.USAGE


def _stem(target: str) -> str:
    place, _, name = target.partition(".py")
    stem = Path(place).name
    name = name.removeprefix(":")
    return f"{stem}-{name}" if name else stem.rpartition(":")[2] or stem


def debug(options: argparse.Namespace) -> int:
    """``gradstep debug``."""
    from tui.debugging import debug_target

    return debug_target(
        options.target,
        options.arguments,
        places=options.breakpoints,
        call=options.call,
        commands=options.commands,
        batch=options.batch,
    )


def _check_packages() -> None:
    """Our three packages have generic names: make sure nobody replaced one of them."""
    import autograd_core
    import viz

    ours = Path(__file__).resolve().parent.parent
    for package in (autograd_core, viz):
        file = package.__file__
        if file is None or Path(file).resolve().parent.parent != ours:
            _say(
                f"gradstep: the package '{package.__name__}' that Python finds is not gradstep's; "
                "another distribution has replaced it, or a file of that name lies in the way; "
                "reinstall gradstep in an environment of its own"
            )
            raise SystemExit(ExitCode.TARGET)


if __name__ == "__main__":
    sys.exit(main())
