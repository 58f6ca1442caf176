"""``gradstep diff``: where two runs first differ."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from gradstep.capturing import capture
from gradstep.capturing.sources import with_portable_sources
from gradstep.comparing import report
from gradstep.comparing.align import Alignment
from gradstep.comparing.runs import Comparison, compare, run_of_graph, shown_graphs
from gradstep.comparing.values import Tolerance
from gradstep.console.session import Session
from gradstep.debugger.beside import Beside
from gradstep.engines.recorded import RecordedCall, names_of
from gradstep.graph.model import Graph
from gradstep.graph.serialize import from_json
from gradstep.guest.collector import collector_slowed
from gradstep.program.calls import CallSelector
from gradstep.program.process import temporary_folder
from gradstep.program.recorded_calls import show_sources
from gradstep.program.run import run_target
from gradstep.program.target import Target, parse_target, require_file
from gradstep.recording.reading import FileRun, is_recording
from gradstep.recording.run import MemoryRun, Run
from gradstep_tui import output
from gradstep_tui.afresh import CAUSES, ON_THE_CORE, VARIATIONS, copied, name_within, record_afresh
from gradstep_tui.command_line import TargetParser, is_script
from gradstep_tui.destination import Destination, place_of_picture
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.options import positive_number
from gradstep_tui.rank_recordings import compared, json_of, paths_by_rank, text_of
from gradstep_tui.terminal import show_screen, why_no_screen
from gradstep_viz.comparison import draw_comparison
from gradstep_viz.options import RenderOptions
from gradstep_viz.rendering import choose_format

_DESCRIPTION = """\
Find where two runs first differ: in their graphs, or else in their values, in
the order in which they ran.

A and B are recordings (run.gsr), graphs (from render --format json), or
targets. A script (train.py) runs to its end in a separate process; ARGS go to
the scripts. For a name in a file (net.py:loss) or a graph, one call is
compared.
"""
_NOTES = """\
--tolerance says what does not count as a difference:
  dtype        what torch.testing.assert_close allows: 1.3e-6 for float32, 1e-7
               for float64, 1e-3 for float16, 1.6e-2 for bfloat16 (default)
  1e-5         a difference of that part of a tensor's size (root mean square)
  4ulp         this number of units in the last place
  bitwise      nothing

If two runs of --repeat differ, the script runs up to eight more times: with
seeds, with PYTHONHASHSEED, with time.time() stopped, and with one thread and
deterministic algorithms. If one of these makes them equal, it is the cause.

Exit code 5 means that the runs differ, and 0 that they do not.

examples:
  gradstep diff before.gsr after.gsr
  gradstep diff --tolerance bitwise train.py rewritten.py --epochs 1
  gradstep diff stored.json net.py:loss
  gradstep diff -o changes.html before.gsr after.gsr
  gradstep diff --screen before.gsr after.gsr
  gradstep diff --repeat 2 train.py
  gradstep diff --vary threads train.py
  gradstep diff --ranks run.rank*.gsr
"""


Names = tuple[str, str]
Runs = tuple[Run, Run]


def parser() -> TargetParser:
    """Return the options of ``gradstep diff``."""
    command = TargetParser(
        "diff",
        "[OPTIONS] A B [ARGS...]\n"
        "       gradstep diff --repeat N | --vary WHAT [OPTIONS] A [ARGS...]\n"
        "       gradstep diff --ranks RECORDING...",
        _DESCRIPTION,
        _NOTES,
    )
    add = command.option
    # fmt: off
    add("--screen", action="store_true", help="show the first call that differs in the debugger, "
        "next to the other run: } goes to the next difference")
    add("--tolerance", type=_tolerance, metavar="T",
        help="what may differ: dtype (default), 1e-5, 4ulp, or bitwise; see below")
    add("--ranks", action="store_true", help="compare the recordings of all processes of a job "
        "(record --on-rank all)")
    add("--repeat", type=positive_number, default=0, metavar="N", help="run the script A N times, "
        "in new processes and copies of its folder, and compare bit by bit")
    add("--vary", choices=VARIATIONS, metavar="WHAT", help="run the script A again with other "
        f"{', '.join(VARIATIONS)}")
    add("--call", default="", metavar="K", help="which calls of a script to keep in full, with "
        "all tensors: 3, last, all, or 1,100:110 (default: as record)")
    add("--format", choices=["text", "json"], default="text",
        help="json: one document, described in the documentation of diff")
    add("-o", dest="output", metavar="FILE", help="also draw the first call that differs: one "
        "picture of both graphs (.svg, .png, .pdf, .dot, .txt), or both side by side on a "
        "page (.html)")
    add("--view", choices=("both", "forward", "backward", "flow"), default="both", metavar="VIEW",
        help="contents of the picture, as for render: both halves (default), forward, backward, or "
        "flow, one row for each module with the gradients of both runs")
    # fmt: on
    return command


def run(options: argparse.Namespace) -> int:
    """Carry out ``gradstep diff``."""
    if options.module:
        raise Failure("diff: -m is for other commands; name a file", ExitCode.USAGE)
    drawing = _drawing(options) if options.output else None
    drawn = RenderOptions(view=options.view, legend=options.view != "flow")
    if options.screen and (problem := why_no_screen()):
        raise Failure(problem, ExitCode.USAGE)
    if options.ranks:
        return _of_ranks([options.target, *options.arguments], options.format)
    with ExitStack() as within, collector_slowed():
        folder = within.enter_context(temporary_folder())
        if options.repeat or options.vary:
            names, comparison, runs, causes = _again(options, folder, within)
        else:
            names, comparison, runs = _of_two(options, folder, within)
            causes = []
        if drawing is not None and comparison.calls:
            _draw(*drawing, names, comparison, shown_graphs(*runs, comparison), drawn)
        if options.screen and comparison.calls:
            _show(names, comparison, runs)
            return ExitCode.FINE if comparison.is_equal else ExitCode.FOUND
    if not comparison.calls and not any(comparison.only):
        raise Failure(
            f"{names[0]} and {names[1]} have no call of backward() in common", ExitCode.TARGET
        )
    write = report.json_text if options.format == "json" else report.text
    output.show(write(comparison, names, Path.cwd(), causes))
    return ExitCode.FINE if comparison.is_equal else ExitCode.FOUND


def _drawing(options: argparse.Namespace) -> tuple[Destination, str]:
    """Return where the picture goes, and its format."""
    format = choose_format(options.output, None)
    if format == "html" and options.view == "flow":
        raise Failure("diff: a page has both graphs in boxes; write rows to .svg", ExitCode.USAGE)
    names = [options.target, *([] if options.repeat or options.vary else options.arguments[:1])]
    inputs = [file for name in names for file in _files(name)]
    place = partial(place_of_picture, format)
    return Destination.of(options.output, "0", True, inputs, place), format


def _files(name: str) -> list[Path]:
    """Return the files of a run."""
    path = Path(name)
    return [path] if path.is_file() else parse_target(name).files()


def _draw(
    destination: Destination,
    format: str,
    names: tuple[str, str],
    comparison: Comparison,
    pair: Alignment | None,
    options: RenderOptions,
) -> None:
    if pair is None:
        raise Failure(
            "the call that differs first was recorded without its graph: record it with "
            "--values stats, or all",
            ExitCode.TARGET,
        )
    rendering = draw_comparison(pair, comparison, names, format, options, Path())
    for note in (*rendering.notes, *destination.take(rendering.save, lambda: rendering.data)):
        output.say(note)


def _show(names: Names, comparison: Comparison, runs: Runs) -> None:
    """Show the call of the first run in the debugger, and that of the second beside it."""
    session = session_beside(names, comparison, runs)
    show_screen(session, f"{names[0]} | {names[1]}")
    session.abort()


def session_beside(names: Names, comparison: Comparison, runs: Runs) -> Session:
    """Return a session of the call that a comparison shows, with the other run's beside it.

    Raises:
        RecordingError: it was not recorded in full.
        Failure: a run is a graph from a file, or a name in one.
    """
    sessions = []
    for name, run, call in zip(names, runs, comparison.shown or (), strict=False):
        flow = run.flow(call.index) if isinstance(run, MemoryRun) else None
        if flow is not None and not flow.steps:
            raise Failure(
                f"{name} is a graph, in which nothing runs: for the screen, name a recording or a "
                "script",
                ExitCode.USAGE,
            )
        recorded = RecordedCall(run, call.index)
        show_sources(run, recorded)
        sessions.append(Session.of_call(recorded, names=names_of(recorded), call=call.number))
    pair = shown_graphs(*runs, comparison)
    assert pair is not None  # both are in full
    session, other = sessions
    session.beside = Beside.of(
        names[1], other, pair.one, pair.partners.tolist(), comparison.places, session.length
    )
    return session


def _of_ranks(names: Sequence[str], format: str) -> int:
    paths = paths_by_rank(names)
    findings = compared([*paths.values()])
    output.show((json_of if format == "json" else text_of)(findings, len(paths)))
    return ExitCode.FOUND if findings else ExitCode.FINE


def _of_two(
    options: argparse.Namespace, folder: Path, within: ExitStack
) -> tuple[Names, Comparison, Runs]:
    if not options.arguments:
        raise Failure("diff: name two runs, A and B", ExitCode.USAGE)
    other, *arguments = options.arguments
    names = options.target, other

    def run(call: str, begin: str = "") -> Runs:
        one, other = (
            _run(name, arguments, call, folder / f"{begin}{number}.gsr", within)
            for number, name in enumerate(names)
        )
        return one, other

    tolerance = options.tolerance or Tolerance()
    runs = run(options.call)
    counts = not any(isinstance(run, MemoryRun) for run in runs)
    comparison = compare(*runs, tolerance, counts_calls=counts)
    if all(map(is_script, names)) and (call := _unclear(runs[0], comparison)):
        clearer = run(call, "again")
        if not (again := compare(*clearer, tolerance)).is_equal:
            runs, comparison = clearer, again
    return names, comparison, runs


def _unclear(run: Run, comparison: Comparison) -> str:
    """Return the call that differs first, as ``--call`` takes it, where programs have to run again
    to keep it in full; else ""."""
    first = comparison.first
    if first is None or first.is_certain or not first.command:
        return ""
    call = next(call for call in run.calls() if call.index == first.index)
    output.say(f"{call.title} differs first; the programs run again, to look at each op in it")
    return call.option


def _again(
    options: argparse.Namespace, folder: Path, within: ExitStack
) -> tuple[Names, Comparison, Runs, list[str]]:
    """Run one script several times, or once more under other circumstances; return what the runs
    that are compared are called, the first comparison that shows a difference, and its causes."""
    target = parse_target(options.target)
    require_file(target)
    if not is_script(options.target):
        raise Failure("diff: --repeat and --vary take a script (train.py)", ExitCode.USAGE)
    count = 0

    def record(pin: str = "", engine: str = "", call: str = options.call) -> FileRun:
        nonlocal count
        count += 1
        path = folder / f"{count}.gsr"
        record_afresh(
            path, name_within(target), options.arguments, call=call, pin=pin,
            engine=engine, folder=copied(target, folder / f"run{count}"),
        )  # fmt: skip
        return within.enter_context(FileRun(path))

    first = record()
    engine = "torch" if "torch" in first.header.engines else "autograd_core"
    name = options.target
    if options.vary:
        if engine != "torch" and options.vary not in ON_THE_CORE:
            raise Failure(
                f"--vary {options.vary} is for programs of PyTorch, which {name} is not",
                ExitCode.USAGE,
            )
        pin = f"vary:{options.vary}"
        other = record(pin, engine)
        tolerance = options.tolerance or Tolerance()
        names = name, f"{name} ({options.vary})"
        comparison = compare(first, other, tolerance)
        if call := _unclear(first, comparison):
            clearer = record(call=call), record(pin, engine, call)
            if not (again := compare(*clearer, tolerance)).is_equal:
                (first, other), comparison = clearer, again
        return names, comparison, (first, other), []
    tolerance = options.tolerance or Tolerance("bitwise")
    while count < max(options.repeat, 2):
        other = record()
        comparison = compare(first, other, tolerance)
        if not comparison.is_equal:
            break
    names = f"{name} (run 1)", f"run {count}"
    if call := _unclear(first, comparison):
        clearer = record(call=call), record(call=call)
        if not (again := compare(*clearer, tolerance)).is_equal:
            (first, other), comparison = clearer, again
    if comparison.is_equal:
        return names, comparison, (first, other), []
    causes = []
    for word, (cause, _) in CAUSES.items():
        if engine == "torch" or word in ON_THE_CORE:
            pin = f"cause:{word}"
            if compare(record(pin, engine), record(pin, engine), tolerance).is_equal:
                causes.append(cause)
    return names, comparison, (first, other), causes


def _run(name: str, arguments: list[str], call: str, path: Path, within: ExitStack) -> Run:
    """Return the run that a word of the command means."""
    place = Path(name)
    if name.endswith(".gsr") or is_recording(place):
        run = within.enter_context(FileRun(place))
        run.require_calls()
        return run
    if name.endswith(".json"):
        return run_of_graph(_graph(place), (name,))
    target = parse_target(name)
    require_file(target)
    if target.name:
        return run_of_graph(_drawn(target), (name,))
    record_afresh(path, name, arguments, call=call)
    return within.enter_context(FileRun(path))


def _drawn(target: Target) -> Graph:
    """Return the graph of the tensor that a target names."""
    ran = run_target(target, [], CallSelector(1), lambda call: True, values=True)
    assert ran.found is not None
    graph = capture(ran.found.root, names=ran.found.names)
    return with_portable_sources(graph, target.folder)


def _graph(path: Path) -> Graph:
    try:
        return from_json(path.read_text("utf-8"))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Failure(f"cannot read {path} ({reason})", ExitCode.TARGET) from None
    except (ValueError, RecursionError) as error:
        raise Failure(
            f"{path} is not a graph: {error}; render --format json writes one", ExitCode.TARGET
        ) from None


def _tolerance(text: str) -> Tolerance:
    try:
        return Tolerance.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error}: it is dtype, 1e-5, 4ulp, or bitwise") from None
