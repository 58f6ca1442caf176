"""``gradstep plot``: from a recording, or from a program that is recorded, to a plot of the run."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from shutil import get_terminal_size
from typing import Final

from gradstep.extras import how_to_install
from gradstep.program.calls import CallSelector
from gradstep.program.process import run_as_main, temporary_folder
from gradstep.program.recording import Recording, record_target
from gradstep.program.run import Failure as ProgramFailure
from gradstep.program.target import Target, parse_target, picture_name
from gradstep.recording.reading import FileRun, is_recording
from gradstep.recording.run import Run
from gradstep.recording.schedule import Schedule
from gradstep_tui import output
from gradstep_tui.command_line import TargetParser
from gradstep_tui.destination import Destination, add_open_option, place_of_picture
from gradstep_tui.ending import end_as
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.options import ARGUMENTS
from gradstep_tui.ranks import add_rank_option, chooses_this_process
from gradstep_tui.waiting import ProgressLine
from gradstep_viz.errors import NothingToDraw, RendererUnavailable
from gradstep_viz.extras import load_extra
from gradstep_viz.plots import PLOT_FORMATS, WHATS, plot, plot_format
from gradstep_viz.rendering import Rendering

_DESCRIPTION = """\
Draw a whole run: leaves in forward order, and calls from left to right. By
default, you see the loss, the size of gradients, and the range of the
update-to-weight ratio of each leaf.

TARGET is a recording (run.gsr), a script (train.py), or a module
(-m package.train). A script runs to its end.
"""
_NOTES = f"""\
--what chooses one quantity:
  rms      the size of gradients, over the run and in a few calls
  update   the size of the last update, relative to the size of the leaf
  nan      where gradients are NaN or infinite
  loss, memory, time
           of each call

A cell of the map that covers several calls or leaves shows the worst of them:
NaN, then Inf, then a jump, then the size farthest from the median of its leaf.

{ARGUMENTS}
All formats but txt need matplotlib: {how_to_install("matplotlib")}

examples:
  gradstep plot run.gsr
  gradstep plot -o run.svg run.gsr
  gradstep plot -o flow.html --what rms --of encoder run.gsr
  gradstep plot --call 400:500 --of '*.weight' run.gsr
  gradstep plot -o train.png train.py --epochs 3
"""
_STYLES: Final = {r"(?m)^! .*$": "bold red", r"(?<=[│▁-█·░^])[0NI^]+": "red"}
_SCHEDULE: Final = Schedule(requests=lambda number, kind: number == 1, last=False, budget=None)
"""The leaves of each call; the graph of the first one tells in which order they stand."""


def parser() -> TargetParser:
    """Return the options of ``gradstep plot``."""
    command = TargetParser("plot", "[OPTIONS] TARGET [ARGS...]", _DESCRIPTION, _NOTES)
    add = command.option
    add(
        "-o",
        dest="output",
        metavar="FILE",
        help="the file to write, or - for standard output "
        "(default: on a terminal, draw in it; else run-plot.svg, after TARGET and --what)",
    )
    add("--format", choices=PLOT_FORMATS, metavar="FORMAT",
        help=f"{', '.join(PLOT_FORMATS)} (default: the suffix of FILE)")  # fmt: skip
    add_open_option(add)
    add("--what", choices=WHATS, metavar="WHAT", help=f"{', '.join(WHATS)}; see below")
    # fmt: off
    add("--of", action="append", default=[], metavar="PATTERN", help="which leaves: the name of a "
        "leaf or of a module, with * as a wildcard; may be repeated")
    add("--call", default="all", metavar="K", help="which calls: 3, last, or 1,100:110; for calls "
        "of autograd.grad(): grad:1, grad:all, ... (default: all calls)")
    add("--theme", choices=("auto", "light", "dark"), metavar="THEME",
        help="light, dark, or auto, which follows the reader's system (default: auto)")
    # fmt: on
    add("--title", metavar="TEXT", help="title of the plot")
    add_rank_option(add, "0")
    return command


def run(options: argparse.Namespace) -> int:
    """Carry out ``gradstep plot``."""
    CallSelector.parse(options.call)  # what is wrong is to be told before a script runs
    recording = None if options.module else _recording(options.target)
    if recording is not None and options.arguments:
        raise Failure(f"plot: {options.arguments[0]} is one word too many", ExitCode.USAGE)
    target = None if recording else parse_target(options.target, module=options.module)
    name, format, destination = _asked_for(options, recording, target)
    width = get_terminal_size((100, 24)).columns

    def draw(run: Run) -> Rendering:
        line = ProgressLine(output.progress, pause=0.2)
        with closing(line):
            return plot(
                run, what=options.what, of=options.of, call=options.call, theme=options.theme,
                title=options.title, format=format, width=width, progress=lambda done, count:
                line.show(f"gradstep: read {done:,} of {count:,} calls"),
            )  # fmt: skip

    failure = None
    if recording is not None:
        with FileRun(recording) as facts:
            facts.require_calls()
            drawing: Rendering | None = draw(facts)
    else:
        assert target is not None
        with destination.kept_free():
            if not chooses_this_process(options.on_rank):
                run_as_main(target, options.arguments)
                return ExitCode.FINE
            drawing, failure = _record_and_draw(target, options.arguments, draw)
    if drawing is not None:
        notes = list(drawing.notes)
        if name == "-" and format == "txt":
            output.show(drawing.text, end="", styles=_STYLES)
        else:
            notes += destination.take(drawing.save, lambda: drawing.data)
        for note in notes:
            output.say(note)
    return end_as(failure)


def _asked_for(
    options: argparse.Namespace, recording: Path | None, target: Target | None
) -> tuple[str, str, Destination]:
    """Return the name and format of the plot, and where it goes."""
    stem = picture_name(recording) if recording else target.stem if target else ""
    is_asked_for_file = options.output or options.format or options.opens == "asked"
    if not is_asked_for_file and output.is_shown_on_terminal():
        options.output, options.format = "-", "txt"
    name = options.output or f"{stem}-{options.what or 'plot'}.{options.format or 'svg'}"
    format = plot_format(None if name == "-" else Path(name), options.format)
    saves = recording is not None or chooses_this_process(options.on_rank)
    if format != "txt":
        try:
            load_extra("matplotlib")  # or the script would run in vain
        except RendererUnavailable as error:
            remedy = f"{error.remedy}, or draw text: -o {stem}.txt"
            raise RendererUnavailable(error.what, remedy=remedy) from None
    inputs = target.files() if target else [Path(options.target)]
    destination = Destination.of(
        name, "0" if recording else options.on_rank, saves, inputs,
        partial(place_of_picture, format), options.opens,
    )  # fmt: skip
    return name, format, destination


def _recording(target: str) -> Path | None:
    """Return the file, if TARGET is a recording, or looks like one."""
    path = Path(target)
    return path if target.endswith(".gsr") or is_recording(path) else None


def _record_and_draw(
    target: Target, arguments: list[str], draw: Callable[[Run], Rendering]
) -> tuple[Rendering | None, ProgramFailure | None]:
    """Run a program and record the leaves of each of its calls; what ``draw`` makes of that, and
    how the program failed. Where it failed before there was anything to draw, that is None."""
    with temporary_folder() as folder:
        path = folder / "run.gsr"
        recording = Recording(
            path, _SCHEDULE, sources=False, command=(str(target), *arguments), folder=target.folder
        )
        failure = record_target(target, arguments, recording)
        with FileRun(path) as run:
            try:
                return draw(run), failure
            except NothingToDraw:
                if failure is None:
                    raise
                return None, failure
