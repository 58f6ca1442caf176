"""Debugs the calls of a program, one after the other: a session, and a face for it, in each."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gradstep.console import open_console
from gradstep.console.console import DEFECT
from gradstep.console.session import Session
from gradstep.contract.budget import BUDGET, Budget
from gradstep.contract.driver import HasRun
from gradstep.contract.lookup import engine_of_call, running_of
from gradstep.debugger.breakpoints import Breakpoints
from gradstep.debugger.breakpoints.quick_look import QuickLook
from gradstep.debugger.errors import CommandError
from gradstep.debugger.history import DEFAULT_BUDGET
from gradstep.debugger.pass_session import Ranks
from gradstep.debugger.snapshot import Reply
from gradstep.debugger.snapshot.timeline import Timeline
from gradstep.findings.reports.stop import stop_text
from gradstep.guest.fence import carried_out, tell
from gradstep.program.calls import CallSelector, InterceptedCall, call_title
from gradstep.program.errors import ScriptDone
from gradstep.program.process import user_code
from gradstep.program.run import Found
from gradstep.records import BackwardCall, Gradients
from gradstep.text import plural
from gradstep_tui import output
from gradstep_tui.commands.fail_on import FailOn, tell_of_second_run
from gradstep_tui.errors import ExitCode, Failure
from gradstep_tui.output import say, show
from gradstep_tui.terminal import show_screen, why_no_screen
from gradstep_tui.waiting import ProgressLine, Waiting


class Line(NamedTuple):
    """A line of a file of commands, and where it stands."""

    text: str
    place: str


def require_screen() -> None:
    """See that a screen can open.

    Raises:
        Failure: it cannot.
    """
    if problem := why_no_screen():
        raise Failure(
            f"{problem}; use --batch with -x FILE or --ex COMMAND to run commands without a screen",
            ExitCode.USAGE,
        )


def as_line(told: Mapping[str, Any]) -> str:
    """Return an object of JSON in one line."""
    return json.dumps(told, ensure_ascii=False, allow_nan=False)


class CallDebugger:
    """Shows one session after the other; breakpoints and the account of every leaf outlive the
    call they were made in.

    Args:
        lines: one stream of commands for all sessions: ``quit`` in it closes a session, as on the
            screen, and leaves the rest to the next one; ``abort`` ends the script, ``detach`` stops
            no more.
        places: what ``break`` takes, each the place of a breakpoint.
        batch: open no screen.
        fail_on: the first gradient that fulfils this condition ends the script, or is where the
            screen opens.
        runs_on: stop only where a breakpoint is hit.
        certifies: see at the end of each pass that every node sends the same bits again.
        keeps_graph: of PyTorch, so that a pass can go on in another way.
        history: how many bytes the recording of a pass may take, None for the usual ones.
        here: what was said is kept as lines of JSON then, in ``said``, and files are named as seen
            from there.
    """

    def __init__(
        self,
        title: str,
        lines: Sequence[Line],
        *,
        places: Sequence[str],
        batch: bool,
        fail_on: FailOn | None,
        runs_on: bool,
        certifies: bool,
        keeps_graph: bool,
        history: int | None,
        here: Path | None = None,
    ) -> None:
        self.title = title
        self.program = ""  # its TARGET and arguments, as a command is given them
        self._lines = deque(lines)
        self._places = places
        self._batch = batch
        self._fail_on = fail_on
        self.runs_on = runs_on
        self.certifies = certifies
        self.keeps_graph = keeps_graph
        self.ranks: Ranks | None = None  # of a job of several processes
        self.shown = CallSelector()  # the call that was shown last, and those after it
        self.detached = False  # whether to stop no more
        self._breakpoints = Breakpoints() if fail_on is None else fail_on.breakpoints
        self._quick_look = QuickLook(self._breakpoints) if fail_on is None else fail_on.look
        self._timeline = Timeline()
        opening = f"{title} runs up to its backward(); ctrl+c ends it"
        self.waiting = Waiting(opening, shown=not batch)
        self._calls = 0  # in which nothing was found
        self._here = here
        self.said: list[str] = []
        self._shown: dict[str, object] = {}  # leaves, of which JSON tells what changes
        self._progress = ProgressLine(output.progress_beside, pause=0.3)
        self._history_bytes = DEFAULT_BUDGET if history is None else history
        self.forward_values = Budget(BUDGET if history is None else history // 2)

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
        return max(self._history_bytes - self.forward_values.used, self._history_bytes // 2)

    def tell_end(self) -> None:
        """Say so where the calls that were run over never came to a stop."""
        self._progress.close()
        if self.runs_on and not self.detached:
            calls = plural(self._calls, "call")
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
            driver=intercepted.driver,
        )
        if stop and self._breakpoints.passing:
            self._breakpoints.passing -= 1
            self._count()
            session.finish()
        else:
            self._show(session, stop)
        return session.gradients if intercepted.call.is_grad else True

    def quick_look(self, call: BackwardCall) -> bool | Gradients | HasRun | None:
        """Carry out a call in which nobody stops, if there is a quicker way to see that nothing in
        it meets a condition; None where a session is needed."""
        if self.detached:
            engine_of_call(call).settle_trace()
            gradients = carried_out(partial(running_of(call).run, call))
            return gradients if call.is_grad else True
        if self.certifies or not self.keeps_graph or self._places:
            return None
        if not (self.runs_on or (self.watches and not self._lines)):
            return None
        look = self._quick_look if self._fail_on is None else self._fail_on.quick_look
        self._quick_look.tells = self._batch and not self._lines
        looked = look(call)
        if self.runs_on and not (looked is None or isinstance(looked, HasRun)):
            self._count()
        return looked

    def may_rest(self) -> bool:
        """Return whether lines and modules need not be noted in a call that does not stop."""
        if self.detached:
            return True
        return not (self._places or self.certifies or self._quick_look.needs_places)

    def debug_tensor(self, subject: Found) -> None:
        """Debug ``root.backward()``, which nobody called."""
        subject.require_runnable()
        session = Session(
            subject.root,
            names=subject.names,
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
        session.program = self.program
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
            require_screen()
            self.waiting.stop()
            outcome = show_screen(session, self.title)
        if outcome in ("rank", "call") and session.ranks is not None:
            kind, number = session.ranks.call or (session.kind, session.call)
            self.shown = CallSelector(None, (kind,), ((number, None),))
            session.abort()
            raise ScriptDone
        if outcome == "abort":
            session.abort()
            if not self._batch:
                call = call_title(session.kind, session.call)
                say(f"{self.title} was ended at its {call}; every .grad is as before that call")
            raise ScriptDone
        if self._fail_on is not None and self._batch:
            try:
                self._fail_on.run_on(session)
            except Failure:
                self._say(session, None, Reply(""))
                raise
        self.runs_on = outcome == "calls"
        if self.certifies:
            self._certify(session)
        self.detached = outcome == "detach" or self._has_nothing_to_do
        session.finish()

    def _count(self) -> None:
        """Count a call in which nothing was found; that the program runs need not be said then."""
        self.waiting.stop()
        self._calls += 1
        self._progress.show(f"call {self._calls:,}, nothing yet")

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
            if self._here is not None:
                session.breakpoints.last = None
            else:
                show(f"(gradstep) {line.text}")
            reply = session.reply(line.text, line.place)
            self._say(session, line.text, reply)
            if DEFECT in reply.text:
                tell(reply.text)  # the program goes on
                continue
            if reply.error:
                raise Failure(reply.text, ExitCode.USAGE)
            if reply.text and self._here is None:
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

    def _say(self, session: Session, command: str | None, reply: Reply) -> None:
        """Keep what a command came to, where that is asked for as JSON."""
        if self._here is not None:
            # a program that is debugged by people does not wait for it
            from gradstep.console.as_data import reply_as_data

            told = reply_as_data(session, reply, self._shown, self._here)
            self.said.append(as_line({"command": command, **told}))

    def _certify(self, session: Session) -> None:
        """Run the pass to its end, and see that every node sends the same bits again.

        Raises:
            Failure: one does not.
        """
        session.jump(session.length)
        certificate = session.certificate()
        heading = f"{call_title(session.kind, session.call)}: {certificate.text(session.graph)}"
        if self._here is not None:
            address = session.graph.address
            told = {
                "command": None, "call": {"kind": session.kind, "number": session.call},
                "nodes": certificate.nodes, "repeated": certificate.repeated,
                "different": list(map(address, certificate.different)),
                "varying": list(map(address, certificate.varying)),
                "text": heading,
            }  # fmt: skip
            self.said.append(as_line(told))
        if certificate.different:
            raise Failure(heading, ExitCode.FOUND)
        if self._here is None:
            show(heading)
