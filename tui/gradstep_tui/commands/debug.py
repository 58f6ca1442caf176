"""``gradstep debug``: a session, and a face for it, inside the backward passes of a script."""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import prod
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from gradstep.capturing.budget import BUDGET, Budget
from gradstep.debugger.breakpoints import Breakpoints
from gradstep.debugger.breakpoints.quick_look import QuickLook
from gradstep.debugger.commands import command_lines, open_console, uncommented
from gradstep.debugger.commands.console import DEFECT
from gradstep.debugger.errors import CommandError
from gradstep.debugger.history import DEFAULT_BUDGET
from gradstep.debugger.pass_session import Ranks
from gradstep.debugger.session import Session
from gradstep.debugger.snapshot import Reply
from gradstep.debugger.snapshot.timeline import Timeline
from gradstep.engines.lookup import engine_of_call
from gradstep.findings.reports.stop import stop_text
from gradstep.graph.collector import collector_slowed
from gradstep.graph.fence import carried_out, tell
from gradstep.program.calls import CallSelector, InterceptedCall, call_title
from gradstep.program.errors import ProgramError, ScriptDone
from gradstep.program.process import run_as_main, user_code
from gradstep.program.run import Found, run_target
from gradstep.program.target import Target, parse_target, require_file
from gradstep.recording.errors import RecordingError
from gradstep.records import BackwardCall, Gradients
from gradstep.text import plural
from gradstep_tui import output
from gradstep_tui.command_line import TargetParser
from gradstep_tui.commands.fail_on import FailOn, tell_of_second_run
from gradstep_tui.ending import end_as
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.guardian import go_on_in_child
from gradstep_tui.options import ARGUMENTS, TARGET, size
from gradstep_tui.output import say, show
from gradstep_tui.ranks import ALL, add_rank_option, chooses_this_process
from gradstep_tui.terminal import show_screen, why_no_screen
from gradstep_tui.waiting import Waiting

_NOTES = f"""\
{ARGUMENTS}
On the screen, ? shows all keys. FILE has one command per line, as typed at the
screen's prompt (help lists them): quit lets the script run on to its next
call, abort ends it.

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
        prog="gradstep debug",
        usage="gradstep debug [OPTIONS] TARGET [ARGS...]",
        description="Run a script and open the debugger in each of its backward() calls.\n\n"
        f"{TARGET}",
        epilog=_NOTES,
    )
    add = command.add_argument_group("options").add_argument
    add("--break", dest="breakpoints", action="append", default=[], metavar="PLACE",
        help="set a breakpoint at an op (mul), an address (encoder.0/addmm:2), a scope, a leaf, "
        "a number (#12) or a line (train.py:12), optionally with a condition "
        "('mul if rms > 10', 'if nan'); may be repeated")  # fmt: skip
    add("--call", metavar="K", help="open only in these backward() calls: 3, all, or 1,100:110; "
        "grad:1, grad:2, ... are calls of autograd.grad()")  # fmt: skip
    add("--until", metavar="CONDITION", help="run through all calls until a gradient meets the "
        "condition (nan,inf or 'rms>1e3'), and open there; with --batch, the same as "
        "--fail-on")  # fmt: skip
    add("--grad", action="store_true", help="also open in each call of autograd.grad()")
    add("-x", dest="commands", action=_Commands, default=[], metavar="FILE",
        help="run the commands in FILE first (- for standard input)")  # fmt: skip
    add("--ex", dest="commands", action=_Commands, default=[], metavar="COMMAND",
        help="run COMMAND first; -x and --ex may be repeated, and run in their order")  # fmt: skip
    add("--batch", action="store_true",
        help="open no screen: run these commands and continue the script")  # fmt: skip
    add("--history", type=size, metavar="SIZE", help="memory limit of the recording "
        "and of the values of the forward pass (default: 1G each); steps that do not fit run "
        "again when you look at them")  # fmt: skip
    add("--fail-on", metavar="CONDITION", help="with no screen (as --batch), stop at the first "
        "gradient, in any call, that meets the condition (nan,inf or 'zero, rms>1e3'), name its "
        "node, and exit with code 5; nan and inf count where the loss or a leaf gradient has "
        "them")  # fmt: skip
    add("--certify", action="store_true", help="with no screen (as --batch), run each pass to its "
        "end, call every node again, and exit with code 5 if a result is not "
        "bit-identical")  # fmt: skip
    add("--no-replay", action="store_true", help="let PyTorch free its graph as usual: this "
        "takes less memory, but gradients cannot be changed or certified")  # fmt: skip
    add_rank_option(add, None, "0; without a screen, all")
    add("-h", "--help", action="help", help="show this")
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
    return debug_target(
        parse_target(options.target, module=options.module),
        options.arguments,
        places=options.breakpoints,
        call=None if options.call is None else CallSelector.parse(options.call),
        grads=options.grad,
        commands=_lines(options.commands) if options.commands else None,
        batch=options.batch,
        fail_on=options.fail_on,
        until=options.until,
        history=options.history,
        certify=options.certify,
        keep_graph=not options.no_replay,
        on_rank=options.on_rank,
    )


def debug_target(
    target: Target,
    arguments: list[str],
    *,
    places: Sequence[str],
    call: CallSelector | None,
    grads: bool,
    commands: Sequence[_Line] | None,
    batch: bool,
    fail_on: str | None = None,
    until: str | None = None,
    history: int | None = None,
    certify: bool = False,
    keep_graph: bool = True,
    on_rank: str | None = None,
) -> int:
    """Debug a TARGET; of a script, the call that ``call`` says, None for each of ``backward()``.
    Returns the exit code of the script.

    Args:
        grads: of a script, open in each call of ``autograd.grad()`` too.
        places: what ``break`` takes, each the place of a breakpoint.
        commands: what to carry out first, for all calls together; None if nothing was said.
        batch: open no screen; so it is with ``fail_on`` and ``certify``.
        certify: see that every node sends the same bits again.
        keep_graph: of PyTorch, so that a pass can go on in another way.
        until: a condition; the screen opens at the first gradient that fulfils it, in any call.
        fail_on: a condition; the first gradient that fulfils it ends the script.
        history: how many bytes the recording of a pass may take, None for the usual ones.
        on_rank: which process of a job does this; None for the first, or without a screen for all.
            The others run the script as usual.

    Raises:
        Failure: with the exit code that fits, FOUND for ``fail_on``.
    """
    require_file(target)
    if until is not None and batch:
        fail_on, until = until if fail_on is None else fail_on, None
    batch = batch or fail_on is not None or certify
    if batch and commands is None and fail_on is None and not certify:
        raise Failure(
            "--batch runs the commands of -x FILE and --ex COMMAND, watches for --fail-on, or "
            "certifies with --certify: name one",
            ExitCode.USAGE,
        )
    if certify and not keep_graph:
        raise Failure(
            "--certify needs the graph that --no-replay frees: leave one of them out",
            ExitCode.USAGE,
        )
    if call is not None and call.last:
        raise Failure(
            "--call last is known only when the script has ended: give its number", ExitCode.USAGE
        )
    if call is not None and grads:
        raise Failure(
            "--grad opens in each call of autograd.grad(), --call in one: leave one of them out",
            ExitCode.USAGE,
        )
    if not chooses_this_process(on_rank or (ALL if batch else "0")):
        if not target.name:
            run_as_main(target, arguments)
        return ExitCode.FINE
    watched, option = (until, "--until") if fail_on is None else (fail_on, "--fail-on")
    condition = None if watched is None else FailOn(watched, option)
    if not batch:
        _require_screen()
        go_on_in_child()
        import gradstep_tui.app  # noqa: F401  # now, while no module of the script's can come before it
    paths: dict[int, Path] = {}
    if target.is_recording and arguments:
        # a script that runs reads no recording
        from gradstep_tui.rank_recordings import paths_by_rank

        paths = paths_by_rank([target.place, *arguments])
        arguments = []
    face = _Face(places, commands or (), batch, condition, title=Path(target.place).name)
    face.certifies, face.keeps_graph = certify, keep_graph
    face.runs_on = until is not None
    if history is not None:
        face.history_bytes = history
        face.forward_values = Budget(history // 2)
    stopped = CallSelector(None, ("backward", "grad") if grads else ("backward",))
    chosen = stopped if call is None else call
    return _debug_ranks(paths, face, chosen) if paths else _debug(target, arguments, face, chosen)


def _debug_ranks(paths: Mapping[int, Path], face: _Face, stopped: CallSelector) -> int:
    """Debug the recordings of a job, one after the other as the command ``rank`` says."""
    first = next(iter(paths))
    ranks = face.ranks = Ranks([*paths], first, first)
    face.waiting = Waiting(shown=False)  # a recording is soon read
    before: tuple[int, CallSelector] | None = None
    while True:
        ranks.current = ranks.wanted
        face.title = paths[ranks.current].name
        try:
            code = _debug(parse_target(str(paths[ranks.current])), [], face, stopped)
        except (ProgramError, RecordingError) as error:
            if before is None:
                raise
            say(f"rank {ranks.current}: {error}")
            (ranks.wanted, stopped), before = before, None
            continue
        if ranks.wanted == ranks.current:
            return code
        before = ranks.current, face.shown
        stopped = face.shown


def _debug(target: Target, arguments: list[str], face: _Face, stopped: CallSelector) -> int:
    def stop(intercepted: InterceptedCall) -> bool | Gradients:
        if face.detached:
            return False
        return face.debug_call(
            intercepted, stopped.requests(intercepted.number, intercepted.call.kind)
        )

    # a condition is watched for in every pass, also where nobody is to stop
    every = CallSelector(None, ("backward", "grad"))
    watched = every if face.watches and not stopped.number else stopped
    face.waiting.start()
    try:
        with collector_slowed():  # what is traced lives as long as the graph
            ran = run_target(
                target, arguments, watched, stop, values="core", end=False, ours=(Failure,),
                look=face.quick_look, budget=face.forward_values, defers=face.only_watches,
            )  # fmt: skip
    finally:
        face.waiting.stop()
    if ran.found is not None:
        face.debug_tensor(ran.found)
    face.tell_end()
    return end_as(ran.failure)


_PATIENCE = 0.3  # seconds between two lines of progress


class _Line(NamedTuple):
    """A line of a file of commands, and where it stands."""

    text: str
    place: str


def _lines(commands: Sequence[tuple[str, str]]) -> list[_Line]:
    """Return the lines of files and commands, each with the option that it was given by."""
    lines: list[_Line] = []
    for option, text in commands:
        lines += [_Line(text, "--ex")] if option == "--ex" else _read_commands(text)
    return lines


def _read_commands(file: str) -> list[_Line]:
    try:
        lines = uncommented(sys.stdin.read()) if file == "-" else command_lines(file)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise Failure(
            f"cannot read the commands in {file} ({reason.lower()})", ExitCode.USAGE
        ) from None
    return [_Line(line, f"{file}:{number}") for number, line in enumerate(lines, 1) if line]


def _require_screen() -> None:
    if problem := why_no_screen():
        raise Failure(
            f"{problem}; use --batch with -x FILE or --ex COMMAND to run commands without a screen",
            ExitCode.USAGE,
        )


class _Face:
    """Shows one session after the other; breakpoints and the account of every leaf outlive the
    call they were made in.

    ``lines`` are one stream of commands for all sessions: ``quit`` in it closes a session, as on
    the screen, and leaves the rest to the next one; ``abort`` ends the script, ``detach`` stops
    no more.
    """

    def __init__(
        self,
        places: Sequence[str],
        lines: Sequence[_Line],
        batch: bool,
        fail_on: FailOn | None,
        title: str,
    ) -> None:
        self._places = places
        self._lines = deque(lines)
        self._batch = batch
        self._fail_on = fail_on
        self.title = title
        self.ranks: Ranks | None = None  # of a job of several processes
        self.shown = CallSelector()  # the call that was shown last, and those after it
        self._breakpoints = Breakpoints() if fail_on is None else fail_on.breakpoints
        self._timeline = Timeline()
        opening = f"{title} runs up to its backward(); ctrl+c ends it"
        self.waiting = Waiting(opening, shown=not batch)
        self.certifies = False  # whether each pass is certified at its end
        self.keeps_graph = True  # of PyTorch, to go on in another way
        self.detached = False  # whether to stop no more
        self.runs_on = False  # whether to stop only where a breakpoint is hit
        self._progress = Progress()
        self._quick_look = QuickLook(self._breakpoints) if fail_on is None else fail_on.look
        self.history_bytes = DEFAULT_BUDGET  # of each pass
        self.forward_values = Budget(BUDGET)  # those that are kept to be shown

    @property
    def watches(self) -> bool:
        """True if a condition is to be watched for in every pass."""
        return self._fail_on is not None and (self._batch or self.runs_on)

    @property
    def only_watches(self) -> bool:
        """True if all that is to be said is what a condition has found."""
        return self.watches and self._batch and not self._lines

    @property
    def _has_nothing_to_do(self) -> bool:
        """True if nobody looks at what follows."""
        busy = self._lines or self._fail_on or self.certifies or self.runs_on
        return self._batch and not busy

    def _room(self) -> int:
        """Return what the recording of a pass may take, beside the values that are kept."""
        return max(self.history_bytes - self.forward_values.used, self.history_bytes // 2)

    def tell_end(self) -> None:
        """Say so where the calls that were run over never came to a stop."""
        self._progress.close()
        if self.runs_on and not self.detached:
            calls = plural(self._progress.calls, "call")
            say(f"{calls} of backward() ran, and none of them stopped")

    def debug_call(self, intercepted: InterceptedCall, stop: bool = True) -> bool | Gradients:
        """Debug a call of the script, or, without ``stop``, only watch it."""
        session = Session.of_call(
            intercepted.call,
            names=intercepted.names,
            call=intercepted.number,
            breakpoints=self._breakpoints,
            timeline=self._timeline,
            history_bytes=self._room(),
            keep_graph=self.keeps_graph,
        )
        if stop and self._breakpoints.passing:
            self._breakpoints.passing -= 1
            self._count()
            session.finish()
        else:
            self._show(session, stop)
        return session.gradients if intercepted.call.is_grad else True

    def quick_look(self, call: BackwardCall) -> bool | Gradients | None:
        """Carry out a call in which nobody stops, if there is a quicker way to see that nothing in
        it meets a condition; None where a session is needed."""
        if self.detached:
            engine = engine_of_call(call)
            engine.settle_trace()
            gradients = carried_out(partial(engine.run, call))
            return gradients if call.is_grad else True
        if self.certifies or not self.keeps_graph or self._places:
            return None
        if not (self.runs_on or (self.watches and not self._lines)):
            return None
        look = self._quick_look if self._fail_on is None else self._fail_on.quick_look
        looked = look(call)
        if self.runs_on and looked is not None:
            self._count()
        return looked

    def debug_tensor(self, subject: Found) -> None:
        """Debug ``root.backward()``, which nobody called."""
        root, target, names = subject
        shape = list(root.shape)
        if prod(shape) != 1:
            raise ProgramError(
                f"{target} has the shape {shape}, and backward() starts from a scalar",
                remedy="name one, such as its sum()",
            )
        subject.require_kept()
        session = Session(
            root,
            names=names,
            breakpoints=self._breakpoints,
            timeline=self._timeline,
            history_bytes=self._room(),
        )
        with suppress(ScriptDone), user_code(Failure):
            self._show(session)

    def _show(self, session: Session, stop: bool = True) -> None:
        if self._batch:
            # the screen needs this thread; else the engine has it, as in a plain run
            session.host(partial(self._run_through, session, stop))
        else:
            self._run_through(session, stop)

    def _run_through(self, session: Session, stop: bool) -> None:
        session.cursor.records_all = self.certifies or not self._batch
        self._set_breakpoints(session)
        if self.runs_on:
            if not self._reaches_stop(session):
                self._count()
                if self._quick_look.undone:
                    tell_of_second_run(session)
                session.finish()
                return
            if self._batch and (reached := session.breakpoints.last) is not None:
                show(f"{call_title(session.kind, session.call)}: {stop_text(session, reached)}")
                session.select(reached.trigger.subject.index)
        session.ranks = self.ranks
        outcome = self._carry_out(session) if stop else ""
        if not outcome and not self._batch:
            _require_screen()
            self.waiting.stop()
            outcome = show_screen(session, self.title)
        if outcome == "rank":
            self.shown = CallSelector(None, (session.kind,), ((session.call, None),))
            session.abort()
            raise ScriptDone
        if outcome == "abort":
            session.abort()
            if not self._batch:
                call = call_title(session.kind, session.call)
                say(f"{self.title} was ended at its {call}; every .grad is as before that call")
            raise ScriptDone
        if self._fail_on is not None and self._batch:
            self._fail_on.run_on(session)
        self.runs_on = outcome == "calls"
        if self.certifies:
            _certify(session)
        self.detached = outcome == "detach" or self._has_nothing_to_do
        session.finish()

    def _count(self) -> None:
        """Count a call in which nothing was found; that the program runs need not be said then."""
        self.waiting.stop()
        self._progress.count()

    def _reaches_stop(self, session: Session) -> bool:
        """Run a pass up to its first stop; True if there is one."""
        session.breakpoints.last = None
        before = None
        while before != (before := (len(session.frames), session.position)):
            session.continue_()
            if session.breakpoints.last is not None or session.snapshot.error:
                self._progress.close()
                self.runs_on = False
                self._quick_look.confirm()
                return True
        return False

    def _set_breakpoints(self, session: Session) -> None:
        places, self._places = self._places, ()
        for place in places:
            try:
                open_console(session).carry_out(f"break {place}", [])
            except CommandError as error:
                raise Failure(f"--break {place}: {error}", ExitCode.USAGE) from None

    def _carry_out(self, session: Session) -> str:
        """Carry out the commands that wait; how they leave the session, "" when they do not."""
        reply = Reply("")
        while self._lines:
            line = self._lines.popleft()
            show(f"(gradstep) {line.text}")
            reply = session.do(line.text, line.place)
            if DEFECT in reply.text:
                tell(reply.text)  # the program goes on
                continue
            if reply.error:
                raise Failure(reply.text, ExitCode.USAGE)
            if reply.text:
                show(reply.text)
            if self._fail_on is not None and self._batch:
                self._fail_on.check(session)
            if reply.leave:
                return reply.leave
        if reply.open_block:
            raise Failure(
                "the commands of -x and --ex end inside a block of commands; add end",
                ExitCode.USAGE,
            )
        return ""


def _certify(session: Session) -> None:
    """Run the pass to its end, and see that every node sends the same bits again.

    Raises:
        Failure: one does not.
    """
    session.jump(session.length)
    certificate = session.certificate()
    heading = f"{call_title(session.kind, session.call)}: {certificate.text(session.graph)}"
    if certificate.different:
        raise Failure(heading, ExitCode.FOUND)
    show(heading)


class Progress:
    """A line on a terminal that counts calls in which nothing was found."""

    def __init__(self) -> None:
        self.calls = 0
        self._shown = monotonic()
        self._written = False

    def count(self) -> None:
        """Count a call that is over."""
        self.calls += 1
        if monotonic() - self._shown > _PATIENCE and output.progress_is_seen():
            self._written, self._shown = True, monotonic()
            output.progress_beside(f"call {self.calls:,}, nothing yet")

    def close(self) -> None:
        """Take the line away."""
        if self._written:
            output.progress_beside("")
            self._written = False
