"""``gradstep record``: runs a program, and keeps what it does in a file."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from gradstep.contract.lookup import unreadable
from gradstep.graph.statistics import format_bytes
from gradstep.guest.cells import is_cell
from gradstep.guest.fence import has_failed
from gradstep.program.process import run_as_main
from gradstep.program.recording import Recording, flight_of, record_target, schedule_of
from gradstep.program.target import Target, parse_target
from gradstep.recording.claiming import place_at
from gradstep.recording.errors import RecordingError
from gradstep.recording.reading import FileRun
from gradstep.recording.recorder import Flight
from gradstep.recording.schedule import BUDGET
from gradstep.recording.writing import MAX_SIZE
from gradstep.text import plural
from gradstep_tui.command_line import TargetParser
from gradstep_tui.destination import Destination, writable
from gradstep_tui.ending import end_as
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.options import positive_number, size
from gradstep_tui.output import say
from gradstep_tui.ranks import add_rank_option, chooses_this_process

_TARGET = """\
TARGET is a script (train.py) or a module (-m package.train). It runs to its
end, with ARGS, and record ends with its exit code. Options go before TARGET.
"""
_NOTES = """\
For each call, the file has its line, time, loss and leaves: the size, NaNs and
checksum of each .grad, and the size and last update of each parameter. For a
call in full, it also has the graph and all gradients. The file is an SQLite
database; see the documentation for its tables.

examples:
  gradstep record train.py
  gradstep record -o run.gsr --every 100 train.py --epochs 3
  gradstep record --when nan,inf --keep 20 train.py
  gradstep record --call 1,1000:1010 --values all train.py
"""


def parser() -> TargetParser:
    """Return the options of ``gradstep record``."""
    command = TargetParser(
        "record",
        "[OPTIONS] TARGET [ARGS...]",
        "Record the backward() calls of a program in a file, to look at them later, on\n"
        f"any machine.\n\n{_TARGET}",
        _NOTES,
    )
    add = command.option
    # fmt: off
    add("-o", dest="output", default="run.gsr", metavar="FILE",
        help="the file to write (default: run.gsr); an existing recording becomes "
        "run.1.gsr")
    add("--call", default="", metavar="K", help="which calls to keep in full: 3, last, all, or "
        "1,100:110 (default: 1 to 5, then 8, 16, 32, ... and the newest, as far as the budget "
        "allows)")
    add("--every", type=positive_number, default=0, metavar="N", help="keep every Nth call in full")
    add("--values", choices=("leaves", "stats", "all"), default="stats", metavar="LEVEL",
        help="contents of a call in full: stats (default) describes all tensors, all also keeps "
        "their elements, leaves keeps no call in full")
    add("--when", default="", metavar="nan,inf", help="keep the newest calls in memory, and write "
        "them only when a loss or a gradient is NaN or infinite, or the program fails; before "
        "that, touch no file")
    add("--keep", type=positive_number, default=20, metavar="N",
        help="how many calls --when keeps (default: 20)")
    add("--budget", type=_budget, default=BUDGET, metavar="X", help="the time limit of the run, "
        f"as a multiple of its time without gradstep (default: {BUDGET}), or none; calls that "
        "you ask for are always kept")
    add("--max-size", type=size, default=MAX_SIZE, metavar="SIZE", help="the size limit of the "
        "file, such as 500M; beyond it, older calls are thinned out (default: 2G)")
    add("--no-source", dest="sources", action="store_false",
        help="leave out the program's source code")
    # fmt: on
    add_rank_option(add, "0")
    return command


def run(options: argparse.Namespace) -> int:
    """Carry out ``gradstep record``."""
    target = parse_target(options.target, module=options.module)
    schedule = schedule_of(options.call, options.every, options.values, options.budget)
    flight = flight_of(options.when, options.keep)
    if options.output == "-":
        raise Failure("a recording cannot be written to standard output", ExitCode.USAGE)
    saves = chooses_this_process(options.on_rank)
    path = Path(Destination.of(options.output, options.on_rank, saves, target.files(), _place).name)
    if not saves:
        run_as_main(target, options.arguments)
        return ExitCode.FINE
    recording = Recording(
        path, schedule, flight, max_size=options.max_size, sources=options.sources,
        command=() if is_cell(target.place) else (str(target), *options.arguments),
        folder=target.folder,
    )  # fmt: skip
    failure = record_target(target, options.arguments, recording)
    if recording.file is not None:
        _say_what_is_in(recording.file, str(recording.path), target)
    elif flight is not None and not recording.has_failed:
        _say_why_nothing_is_there(recording, flight, target, failed=failure is not None)
    return end_as(failure, ExitCode.TARGET if unreadable() else ExitCode.FINE)


def _place(path: Path) -> Path:
    """See that a recording can be written to ``path``."""
    try:
        place_at(path)
    except RecordingError as error:
        raise Failure(str(error), ExitCode.USAGE) from None
    return path.resolve() if path.exists() else writable(path)


def _say_what_is_in(file: Path, name: str, target: Target) -> None:
    try:
        with FileRun(file) as run:
            count, full = len(run.indices), len(run.full)
            described = len(run.described)
            leaves = f"the leaves of {described:,}, " if full < described < count else ""
            calls = f"{plural(count, 'call')}, {leaves}{full} in full"
            kept = calls if count else "no call was recorded"
            say(f"{name}: {kept} ({format_bytes(os.path.getsize(file))})")
            for note in run.notes:
                say(note)
            if not (count or run.notes or unreadable() or has_failed()):
                say(_no_call(target))
    except RecordingError as error:
        say(str(error))


def _say_why_nothing_is_there(
    recording: Recording, flight: Flight, target: Target, *, failed: bool
) -> None:
    """Say that a flight recorder had no reason to write."""
    if recording.calls:
        ran = f"{plural(recording.calls, 'call')} ran"
        why = f"{ran}, and none had {' or '.join(flight.when)}"
    else:
        why = "no call ran" if failed or unreadable() or has_failed() else _no_call(target)
    there = "; the existing recording is older" if recording.path.exists() else ""
    say(f"{recording.path} is not written: {why}{there}")


def _no_call(target: Target) -> str:
    return f"{target} called neither backward() nor autograd.grad() in its main thread"


def _budget(text: str) -> float | None:
    """Return a multiple of more than 1, or None."""
    if text == "none":
        return None
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 1 < number < 1e6:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of more than 1, or none")
    return number
