"""``gradstep film``: from a TARGET to the film of its backward pass."""

from __future__ import annotations

import argparse
from pathlib import Path

from gradstep.capturing.roots import backward_call
from gradstep.capturing.sources import with_portable_sources
from gradstep.graph.model import Graph, View
from gradstep.program.calls import CallSelector, InterceptedCall, LastCall
from gradstep.program.errors import ProgramError
from gradstep.program.run import Found, chosen_call, run_target
from gradstep.program.target import Target, parse_target
from gradstep.records import Gradients
from gradstep_tui.command_line import TargetParser
from gradstep_tui.commands.render import Drawn, add_drawing_options
from gradstep_tui.destination import Destination, add_open_option, writable
from gradstep_tui.ending import end_as
from gradstep_tui.options import ARGUMENTS, CALL_HELP, TARGET, seconds
from gradstep_tui.output import say
from gradstep_tui.ranks import add_rank_option, chooses_this_process
from gradstep_tui.waiting import Waiting
from gradstep_viz.films import film_of, require_place_of_film
from gradstep_viz.films.recording import Recording, record_call, record_passing
from gradstep_viz.options import RenderOptions

_NOTES = f"""\
{ARGUMENTS}
A film needs no JavaScript, and plays in every browser. It pauses while the
pointer is over it.

examples:
  gradstep film train.py
  gradstep film -o loss.html train.py:loss
  gradstep film --view backward -o frames/ train.py
"""

_OPTIONS = ("leaves", "theme", "title", "captions", "label", "show", "shape")
"""Those of pictures that films have, too."""


def parser() -> TargetParser:
    """Return the options of ``gradstep film``."""
    command = TargetParser(
        "film",
        "[OPTIONS] TARGET [ARGS...]",
        "Animate a backward pass: how the forward pass builds the graph, and how the\n"
        f"gradients then flow back through it.\n\n{TARGET}",
        _NOTES,
    )
    add = command.option
    # fmt: off
    add("-o", dest="output", metavar="FILE", help="an .svg, which plays by itself; a .gif, for "
        "slides (extra: png); an .html, with a scrubber; a directory, for one SVG per frame; or "
        "-, for an SVG on standard output (default: the name of TARGET and -film.svg, in the "
        "current directory)")
    add_open_option(add)
    add("--view", choices=("forward", "backward", "both"), default="both", metavar="VIEW",
        help="forward (the graph being built), backward (the gradients flowing back), or both "
        "(default)")
    add("--call", metavar="K", help=CALL_HELP)
    add("--seconds", type=seconds, default=1.5, metavar="S",
        help="how long a frame lasts (default: 1.5)")
    # fmt: on
    add_drawing_options(add, _OPTIONS)
    add_rank_option(add, "0")
    return command


def run(options: argparse.Namespace) -> int:
    """Carry out ``gradstep film``."""
    saves = chooses_this_process(options.on_rank)
    target = parse_target(options.target, module=options.module)
    call = chosen_call(target, options.call)
    choices = RenderOptions(**{name: getattr(options, name) for name in ("view", *_OPTIONS)})
    name = options.output or f"{target.stem}-film.svg"
    destination = Destination.of(
        name, options.on_rank, saves, target.files(), _place, options.opens
    )
    with destination.kept_free(), Waiting() as waiting:
        recording, drawn = _recording_of(target, options.arguments, options.view, call)
        waiting.phase = "drawing"
        film = film_of(recording, choices, options.seconds)
    written = destination.take(film.save, lambda: film.svg().encode())
    for note in (*drawn.notes, *(f"{text}, {len(film)} frames" for text in written)):
        if saves:
            say(note)
    return end_as(drawn.failure)


def _place(path: Path) -> Path:
    require_place_of_film(path)
    return path.resolve() if path.is_dir() and not path.suffix else writable(path)


def _recording_of(
    target: Target, arguments: list[str], view: View, call: CallSelector
) -> tuple[Recording, Drawn]:
    folder = target.folder

    def watch(intercepted: InterceptedCall) -> tuple[Recording, bool | Gradients]:
        recording, gradients = record_passing(intercepted.call, view, intercepted.names)
        return _portable(recording, folder), gradients if intercepted.call.is_grad else True

    seen = LastCall(watch)
    ran = run_target(target, arguments, call, seen, values=True)
    if ran.found is None:
        return ran.last(seen), Drawn(seen.notes(call), ran.failure)
    return _portable(_recording_of_tensor(ran.found, view), folder), Drawn([])


def _recording_of_tensor(subject: Found, view: View) -> Recording:
    subject.require_kept()
    try:
        return record_call(backward_call(subject.root), view, subject.names)
    except RuntimeError as error:  # it is no scalar: PyTorch's words
        raise ProgramError(f"the backward pass failed: {error}") from None


def _portable(recording: Recording, folder: Path) -> Recording:
    def graph(of: Graph) -> Graph:
        return with_portable_sources(of, folder)

    return recording._replace(before=graph(recording.before), after=graph(recording.after))
