"""``gradstep debug``: a session, and a face for it, inside the backward passes of a script."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gradstep.console import command_lines, uncommented
from gradstep.debugger.pass_session import Ranks
from gradstep.guest.collector import collector_slowed
from gradstep.program.calls import CallSelector, InterceptedCall
from gradstep.program.errors import ProgramError
from gradstep.program.process import run_as_main
from gradstep.program.run import run_target
from gradstep.program.target import Target, parse_target, require_file
from gradstep.recording.errors import RecordingError
from gradstep.records import Gradients
from gradstep_tui.command_line import TargetParser
from gradstep_tui.commands.fail_on import FailOn
from gradstep_tui.debugging import CallDebugger, Line, as_line, require_screen
from gradstep_tui.destination import stdout_kept_free
from gradstep_tui.ending import end_as
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.guardian import go_on_in_child
from gradstep_tui.options import ARGUMENTS, TARGET, size
from gradstep_tui.output import say, show
from gradstep_tui.ranks import ALL, add_rank_option, chooses_this_process
from gradstep_tui.waiting import Waiting

_NOTES = f"""\
{ARGUMENTS}
On the screen, ? shows all keys. FILE has one command per line, as typed on the
screen (help lists them). quit continues the script to its next call, and abort
ends the script.

examples:
  gradstep debug train.py
  gradstep debug --break mul --break encoder.0 --call 2 train.py
  gradstep debug --until nan train.py           open at the first nan
  gradstep debug --batch -x commands.txt train.py --epochs 1
  gradstep debug --batch --ex continue --ex 'info leaves' train.py
  gradstep debug --batch --fail-on nan,inf train.py
  gradstep debug --call grad:1 penalty.py       the first autograd.grad()
  gradstep debug run.rank*.gsr                  all processes of a job: rank 3
"""


def parser() -> TargetParser:
    """Return the options of ``gradstep debug``."""
    command = TargetParser(
        "debug",
        "[OPTIONS] TARGET [ARGS...]",
        f"Run a script and open the debugger in each of its backward() calls.\n\n{TARGET}",
        _NOTES,
    )
    add = command.option
    # fmt: off
    add("--break", dest="breakpoints", action="append", default=[], metavar="PLACE",
        help="set a breakpoint at an op (mul), an address (encoder.0/addmm:2), a scope, a leaf, "
        "a number (#12) or a line (train.py:12), optionally with a condition "
        "('mul if rms > 10', 'if nan'); may be repeated")
    add("--call", metavar="K", help="open only in these backward() calls: 3, all, or 1,100:110; "
        "grad:1, grad:2, ... are calls of autograd.grad()")
    add("--until", metavar="CONDITION", help="run through all calls until a gradient meets the "
        "condition (nan,inf or 'rms>1e3'), and open there")
    add("--grad", action="store_true", help="also open in each call of autograd.grad()")
    add("-x", dest="commands", action=_Commands, default=[], metavar="FILE",
        help="run the commands in FILE first (- for standard input)")
    add("--ex", dest="commands", action=_Commands, default=[], metavar="COMMAND",
        help="run COMMAND first; -x and --ex may be repeated, and run in their order")
    add("--batch", action="store_true",
        help="open no screen: run these commands and continue the script")
    add("--format", choices=["text", "json"], default="text",
        help="without a screen, json: one object per line for each command (see gradstep schema "
        "debug); the program's output goes to standard error")
    add("--history", type=size, metavar="SIZE", help="memory limit of the recording "
        "and of the values of the forward pass (default: 1G each); steps that do not fit run "
        "again when you look at them")
    add("--fail-on", metavar="CONDITION", help="without a screen (as --batch), stop at the first "
        "gradient, in any call, that meets the condition (nan,inf or 'zero, rms>1e3'), name its "
        "node, and exit with code 5; nan and inf count only in the loss and in gradients of "
        "leaves")
    add("--certify", action="store_true", help="without a screen (as --batch), run each pass to "
        "its end, call every node again, and exit with code 5 if a result is not "
        "bit-identical")
    add("--no-replay", action="store_true", help="let PyTorch free its graph as usual: this "
        "takes less memory, but gradients cannot be changed or certified")
    # fmt: on
    add_rank_option(add, None, "0; without a screen, all")
    command.set_defaults(theme=None)  # of the project
    return command


class _Commands(argparse.Action):
    """Collects ``-x FILE`` and ``--ex COMMAND`` in their order."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        options: argparse.Namespace,
        value: Any,
        option: str | None = None,
    ) -> None:
        options.commands = [*options.commands, (option, value)]


def run(options: argparse.Namespace) -> int:
    """Carry out ``gradstep debug``."""
    target = parse_target(options.target, module=options.module)
    call = None if options.call is None else CallSelector.parse(options.call)
    lines = _lines(options.commands)
    require_file(target)
    fail_on, until = options.fail_on, options.until
    batch = options.batch or fail_on is not None or options.certify
    _require_sense(options, call, fail_on, batch)
    if not chooses_this_process(options.on_rank or (ALL if batch else "0")):
        if not target.name:
            run_as_main(target, options.arguments)
        return ExitCode.FINE
    watched, option = (until, "--until") if fail_on is None else (fail_on, "--fail-on")
    condition = None if watched is None else FailOn(watched, option)
    if not batch:
        require_screen()
        go_on_in_child()
        import gradstep_tui.app  # noqa: F401  # now, while no module of the script's can come before it
    debugger = CallDebugger(
        Path(target.place).name, lines, places=options.breakpoints, batch=batch,
        fail_on=condition, runs_on=until is not None, certifies=options.certify,
        keeps_graph=not options.no_replay, history=options.history,
        here=target.folder if options.format == "json" else None,
    )  # fmt: skip
    debugger.program = target.with_arguments(options.arguments)
    stopped = CallSelector(None, ("backward", "grad") if options.grad else ("backward",))
    chosen = stopped if call is None else call
    if options.format == "json":
        return _as_json(debugger, target, options, chosen)
    return _debug_target(target, options.arguments, debugger, chosen)


def _as_json(
    debugger: CallDebugger, target: Target, options: argparse.Namespace, chosen: CallSelector
) -> int:
    """Debug, and print what was said as JSON, also where that ends the run."""
    last = []
    try:
        with stdout_kept_free():
            return _debug_target(target, options.arguments, debugger, chosen)
    except Failure as failure:
        last = [{"command": None, "exit_code": int(failure.code), "message": failure.message}]
        raise
    finally:
        for line in [*debugger.said, *map(as_line, last)]:
            show(line)


def _debug_target(
    target: Target, arguments: list[str], debugger: CallDebugger, chosen: CallSelector
) -> int:
    if target.is_recording:
        # a script that runs reads no recording
        from gradstep_tui.rank_recordings import paths_by_rank

        return _debug_ranks(paths_by_rank([target.place, *arguments]), debugger, chosen)
    return _debug(target, arguments, debugger, chosen)


def _require_sense(
    options: argparse.Namespace, call: CallSelector | None, fail_on: str | None, batch: bool
) -> None:
    """See that options do not contradict each other.

    Raises:
        Failure: they do.
    """
    problem = ""
    if options.format == "json" and not batch:
        problem = "--format json is for --batch, --fail-on and --certify: name one"
    elif options.batch and not options.commands and fail_on is None and not options.certify:
        problem = (
            "--batch runs the commands of -x FILE and --ex COMMAND, watches for --fail-on, or "
            "certifies with --certify: name one"
        )
    elif options.until is not None and (options.batch or options.certify or fail_on is not None):
        problem = "--until opens the screen; without one, --fail-on is for conditions"
    elif options.certify and options.no_replay:
        problem = "--certify needs the graph that --no-replay frees: leave one of them out"
    elif call is not None and call.last:
        problem = "--call last is known only when the script has ended: give its number"
    elif call is not None and options.grad:
        problem = (
            "--grad opens in each call of autograd.grad(), --call in one: leave one of them out"
        )
    if problem:
        raise Failure(problem, ExitCode.USAGE)


def _debug_ranks(paths: Mapping[int, Path], debugger: CallDebugger, stopped: CallSelector) -> int:
    """Debug the recordings of a job, one of them at a time, as the commands ``rank`` and ``call``
    say."""
    first = next(iter(paths))
    ranks = debugger.ranks = Ranks([*paths], first, first)
    debugger.waiting = Waiting(shown=False)  # a recording is soon read
    before: tuple[int, CallSelector] | None = None
    while True:
        ranks.current, ranks.call = ranks.wanted, None
        debugger.title = paths[ranks.current].name
        try:
            code = _debug(parse_target(str(paths[ranks.current])), [], debugger, stopped)
        except (ProgramError, RecordingError) as error:
            if before is None:
                raise
            say(f"rank {ranks.current}: {error}")
            (ranks.wanted, stopped), before = before, None
            continue
        if ranks.wanted == ranks.current and ranks.call is None:
            return code
        before = ranks.current, debugger.shown
        stopped = debugger.shown


def _debug(
    target: Target, arguments: list[str], debugger: CallDebugger, stopped: CallSelector
) -> int:
    def stop(intercepted: InterceptedCall) -> bool | Gradients:
        if debugger.detached:
            return False
        return debugger.debug_call(
            intercepted, stopped.requests(intercepted.number, intercepted.call.kind)
        )

    # a condition is watched for in every pass, also where nobody is to stop
    every = CallSelector(None, ("backward", "grad"))
    watched = every if debugger.watches and not stopped.number else stopped
    debugger.waiting.start()
    try:
        with collector_slowed():  # what is traced lives as long as the graph
            ran = run_target(
                target, arguments, watched, stop, values="core", end=False, ours=(Failure,),
                look=debugger.quick_look, budget=debugger.forward_values,
                defers=debugger.only_watches, rests=debugger.may_rest,
            )  # fmt: skip
    finally:
        debugger.waiting.stop()
    if ran.found is not None:
        debugger.debug_tensor(ran.found)
    debugger.tell_end()
    return end_as(ran.failure)


def _lines(commands: Sequence[tuple[str, str]]) -> list[Line]:
    """Return the lines of files and commands, each with the option that it was given by."""
    lines: list[Line] = []
    for option, text in commands:
        lines += [Line(text, "--ex")] if option == "--ex" else _read_commands(text)
    return lines


def _read_commands(file: str) -> list[Line]:
    try:
        lines = uncommented(sys.stdin.read()) if file == "-" else command_lines(file)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise Failure(
            f"cannot read the commands in {file} ({reason.lower()})", ExitCode.USAGE
        ) from None
    return [Line(line, f"{file}:{number}") for number, line in enumerate(lines, 1) if line]
