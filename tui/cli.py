"""The ``gradstep`` command: one function per subcommand."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from tui.exit_codes import ExitCode, Failure, exit_code_of, is_message_of_script
from tui.options import command_parser

if TYPE_CHECKING:
    from autograd_core.program.calls import CallSelector
    from autograd_core.program.target import Target


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code that the process is to end with."""
    try:
        options = _parse(sys.argv[1:] if arguments is None else list(arguments))
        return _COMMANDS[options.command](options) or ExitCode.FINE
    except BrokenPipeError:
        _silence_stdout()
    except KeyboardInterrupt:
        _say("interrupted")
        return ExitCode.INTERRUPTED
    except Exception as error:
        code = exit_code_of(error)
        if code is None:
            raise
        if is_message_of_script(error):
            print(error, file=sys.stderr)
        else:
            _say(str(error))
        return code
    return ExitCode.FINE


def _say(text: str) -> None:
    print(f"gradstep: {text}", file=sys.stderr)


def _silence_stdout() -> None:
    """Whoever read our output has had enough; nothing may be written at exit either."""
    with suppress(OSError):  # it may be no file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parse(arguments: list[str]) -> argparse.Namespace:
    """Our options stand before or behind TARGET; behind it, what we do not know is the script's,
    and so is everything after ``--``."""
    verbatim: list[str] = []
    if "--" in arguments:
        cut = arguments.index("--")
        arguments, verbatim = arguments[:cut], arguments[cut + 1 :]
    _require_command(arguments)
    options, others = _parse_known(arguments)
    before = arguments
    if options.command not in ("ops", "embed"):  # which have no script
        before = arguments[: arguments.index(options.target)]
    for other in others:
        word = other.partition("=")[0]
        hint = _did_you_mean(word, options.known, cutoff=0.7)
        if other in before:
            options.parser.error(f"there is no option {word}" + (f", {hint}" if hint else ""))
        if hint and word.startswith("--"):
            _say(f"{word} goes to the script; {hint}")
    options.arguments = [*others, *verbatim]
    return options


def _parse_known(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Our options, and what we do not know; ``-m MODULE`` stands where a TARGET would."""
    if "-m" in arguments[:-1]:
        at = arguments.index("-m")
        name = arguments[at + 1]
        options, others = command_parser().parse_known_args([*arguments[:at], *arguments[at + 1 :]])
        if options.target == name:  # else it stands behind TARGET, and is the script's
            options.module = True
            return options, others
    options, others = command_parser().parse_known_args(arguments)
    options.module = False
    return options, others


def _target(options: argparse.Namespace) -> Target:
    from autograd_core.program.target import parse_target  # with NumPy; --help need not wait

    return parse_target(options.target, module=options.module)


def _call(text: str) -> CallSelector:
    from autograd_core.program.calls import CallSelector  # with NumPy; --help need not wait

    return CallSelector.parse(text)


def _did_you_mean(word: str, words: Iterable[str], cutoff: float = 0.6) -> str:
    # imported late: it takes NumPy with it, for which --help need not wait
    from autograd_core.text import did_you_mean

    return did_you_mean(word, words, cutoff=cutoff)


def _require_command(arguments: list[str]) -> None:
    word = arguments[0] if arguments else ""
    if word in _COMMANDS or word.startswith("-"):
        return
    if not word:
        problem = "which command?"
    elif ".py" in word:
        problem = f"what is to be done with {word}?"
    else:
        hint = _did_you_mean(word, _COMMANDS)
        problem = f"there is no command '{word}'{f', {hint}' if hint else '.'}"
    raise Failure(
        f"{problem} (render draws a graph, debug steps through backward(); gradstep --help says "
        "more)",
        ExitCode.USAGE,
    )


def render(options: argparse.Namespace) -> None:
    """``gradstep render``."""
    from tui.commands.render import render_target

    notes = render_target(
        _target(options),
        options.arguments,
        output=options.output,
        format=options.format,
        view=options.view,
        call=_call(options.call),
        profiled=options.profiled,
        theme=options.theme,
        layout=options.layout,
        leaves=options.leaves,
        title=options.title,
        magnitude=options.magnitude,
        legend=options.legend,
        link=options.link,
        full=options.full,
        max_boxes=options.max_boxes,
        depth=options.depth,
        expand=options.expand,
        around=options.around,
        hops=options.hops,
        path=options.path,
    )
    for note in notes:
        _say(note)


def film(options: argparse.Namespace) -> None:
    """``gradstep film``."""
    from tui.commands.film import film_target

    notes = film_target(
        _target(options),
        options.arguments,
        output=options.output,
        view=options.view,
        call=_call(options.call),
        theme=options.theme,
        leaves=options.leaves,
        seconds=options.seconds,
        title=options.title,
    )
    for note in notes:
        _say(note)


def debug(options: argparse.Namespace) -> None:
    """``gradstep debug``."""
    from tui.commands.debug import debug_target

    debug_target(
        _target(options),
        options.arguments,
        places=options.breakpoints,
        call=None if options.call is None else _call(options.call),
        grads=options.grad,
        commands=options.commands,
        batch=options.batch,
        fail_on=options.fail_on,
        history=options.history,
    )


def check(options: argparse.Namespace) -> ExitCode:
    """``gradstep check``."""
    from tui.commands.check import check_target

    return check_target(
        _target(options),
        options.arguments,
        call=_call(options.call),
        ignore=options.ignore,
        everything=options.everything,
        quiet=options.quiet,
    )


def ops(options: argparse.Namespace) -> None:
    """``gradstep ops``."""
    from tui.commands.ops import show_operators

    show_operators(options.target, code=options.code)


def embed(options: argparse.Namespace) -> ExitCode:
    """``gradstep embed``."""
    from tui.commands.embed import embed as embed_into

    code, notes = embed_into(options.target, check=options.check)
    for note in notes:
        _say(note)
    return code


_COMMANDS: dict[str, Callable[[argparse.Namespace], ExitCode | None]] = {
    "render": render,
    "film": film,
    "debug": debug,
    "check": check,
    "ops": ops,
    "embed": embed,
}
