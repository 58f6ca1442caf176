"""``gradstep render``: from a TARGET to its graph, and from the graph to a file."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from typing import Any, NamedTuple

from gradstep.capturing import View, capture
from gradstep.capturing.sources import with_portable_sources
from gradstep.contract.profiling import profiling
from gradstep.contract.tracing import following
from gradstep.graph.model import Graph
from gradstep.guest.collector import collector_slowed
from gradstep.program.calls import (
    CallSelector,
    InterceptedCall,
    LastCall,
    run_and_keep,
    run_and_read,
)
from gradstep.program.run import Failure as ProgramFailure
from gradstep.program.run import chosen_call, run_target
from gradstep.program.target import Target, parse_target
from gradstep.records import Gradients
from gradstep.text import plural
from gradstep_tui.command_line import TargetParser
from gradstep_tui.destination import Destination, add_open_option, place_of_picture
from gradstep_tui.ending import end_as
from gradstep_tui.options import ARGUMENTS, CALL_HELP, TARGET, positive_number
from gradstep_tui.output import say
from gradstep_tui.ranks import add_rank_option, chooses_this_process
from gradstep_tui.waiting import Waiting
from gradstep_viz.errors import VizError
from gradstep_viz.formats import FORMATS
from gradstep_viz.options import RenderOptions, render_options
from gradstep_viz.rendering import Rendering, choose_format, render_graph

_NOTES = f"""\
{ARGUMENTS}
examples:
  gradstep render train.py
  gradstep render -o loss.svg train.py:loss
  gradstep render --view backward --call last -o last.html train.py --epochs 3
  gradstep render --expand layers.3 train.py
  gradstep render --around layers.0.fc1 --hops 1 train.py
  gradstep render --legend --link 'vscode://file/{{path}}:{{line}}' train.py
  gradstep render --format dot -o - train.py | less
"""


def parser() -> TargetParser:
    """Return the options of ``gradstep render``."""
    command = TargetParser(
        "render",
        "[OPTIONS] TARGET [ARGS...]",
        "Draw a graph. A script is drawn at its first backward() call, with the\n"
        f"gradients of that call, and ends there.\n\n{TARGET}",
        _NOTES,
    )
    add = command.option
    # fmt: off
    add("-o", dest="output", metavar="FILE", help="the file to write, or - for standard output "
        "(default: the name of TARGET with .svg, in the current directory)")
    add("--format", choices=FORMATS, metavar="FORMAT", help=f"{', '.join(FORMATS)} "
        "(default: the suffix of FILE); png and pdf need a font, and either Graphviz's "
        "dot, or resvg-py and svg2pdf-py")
    # fmt: on
    add_open_option(add)
    add("--call", metavar="K", help=CALL_HELP)
    add_rank_option(add, "0")
    add_drawing_options(add, [one.name for one in render_options() if not one.large])
    # fmt: off
    add("--values", action="store_true",
        help="show the values of the forward pass (takes time and memory)")
    add("--profile", dest="profiled", action="store_true",
        help="show how long ops and nodes took, and how many bytes they produced")
    # fmt: on
    group = command.add_argument_group(
        "large graphs",
        "Modules, scopes, repeats and loops are folded until 60 boxes are left (40 if\n"
        "both halves are shown), or fewer if the picture would not be readable on one\n"
        "screen.",
    )
    add_drawing_options(group.add_argument, [one.name for one in render_options() if one.large])
    return command


def add_drawing_options(add: Callable[..., Any], names: Collection[str]) -> None:
    """Add the options of pictures that have these names."""
    for option in render_options():
        if option.name not in names:
            continue
        keywords: dict[str, Any] = {"help": option.doc.replace("%", "%%")}
        match option.kind:
            case "flag":
                keywords |= {"action": "store_true"}
            case "switch":
                keywords |= {"action": argparse.BooleanOptionalAction}
            case _:
                default = None if option.name == "theme" else option.default  # of the project
                keywords |= {"metavar": option.metavar, "default": default}
        if option.kind == "choice":
            keywords |= {"choices": option.choices}
            keywords["help"] += f" (default: {option.default})"
        elif option.kind == "number":
            keywords |= {"type": positive_number}
        elif option.kind == "texts":
            keywords |= {"action": "append", "default": []}
        add(f"--{option.name.replace('_', '-')}", **keywords)


def run(options: argparse.Namespace) -> int:
    """Carry out ``gradstep render``."""
    saves = chooses_this_process(options.on_rank)
    target = parse_target(options.target, module=options.module)
    call = chosen_call(target, options.call)
    name = options.output or f"{target.stem}.{options.format or 'svg'}"
    format = choose_format(None if name == "-" else name, options.format)
    destination = Destination.of(
        name, options.on_rank, saves, target.files(), partial(place_of_picture, format),
        options.opens,
    )  # fmt: skip
    choices = RenderOptions(
        **{option.name: getattr(options, option.name) for option in render_options()}
    )
    folder = target.folder
    waiting = Waiting()

    def draw(graph: Graph) -> Rendering:
        waiting.phase = f"drawing {plural(len(graph), 'node')}"
        drawing = render_graph(with_portable_sources(graph, folder), format, choices, folder=folder)
        waiting.phase = ""
        return drawing

    with (
        collector_slowed(),  # what grows lives until the picture is drawn
        destination.kept_free(),
        _profiled() if options.profiled else nullcontext(),
        waiting,
    ):
        drawing, drawn = draw_target(
            target, options.arguments, choices.halves, call, draw, values=options.values
        )
    written = destination.take(drawing.save, lambda: drawing.data)
    for note in (*drawn.notes, *drawing.notes, *written) if saves else ():
        say(note)
    return end_as(drawn.failure)


@contextmanager
def _profiled() -> Iterator[None]:
    with ExitStack() as stack:

        def profile_ops() -> None:
            # nothing of a program that has not loaded the core
            from autograd_core.autograd.profiler import profile

            stack.enter_context(profile())

        stack.enter_context(following("autograd_core", profile_ops))
        stack.enter_context(profiling())
        yield


class _Crash(Exception):
    """What has gone wrong while the program waited for its picture."""


class Drawn(NamedTuple):
    """What is to be said about a picture, and how the program failed after it was seen."""

    notes: list[str]
    failure: ProgramFailure | None = None


def draw_target(
    target: Target,
    arguments: list[str],
    view: View,
    call: CallSelector,
    draw: Callable[[Graph], Rendering],
    *,
    values: bool = False,
) -> tuple[Rendering, Drawn]:
    """Return what ``draw`` makes of the graph of ``target``; for a script that of the last of its
    calls that ``call`` requests, with a note if there were several.

    Raises:
        ProgramError: it leads to no graph.
        VizError: it cannot be drawn.
    """

    def draw_or_crash(graph: Graph) -> Rendering:
        try:
            return draw(graph)
        except VizError:
            raise
        except Exception as error:  # a mistake of ours, not of the program's
            raise _Crash from error

    Seen = Rendering | Callable[[], Graph]

    def look(intercepted: InterceptedCall) -> tuple[Seen, bool | Gradients]:
        if call.is_over(
            intercepted.number
        ):  # before the program ends: what is not drawn is not read
            return run_and_read(intercepted, view, draw_or_crash)
        return run_and_keep(intercepted, view)

    seen = LastCall(look)
    ours = (VizError, _Crash)
    try:
        ran = run_target(
            target, arguments, call, seen, values=values, ours=ours, rests=lambda: True
        )
    except _Crash as crash:
        raise crash.__cause__ or crash from None
    if (found := ran.found) is not None:
        graph = capture(found.root, view, names=found.names, title=found.target.name)
        return draw(graph), Drawn([])
    drawn = ran.last(seen)
    drawing = draw(drawn()) if callable(drawn) else drawn
    return drawing, Drawn(seen.notes(call), ran.failure)
