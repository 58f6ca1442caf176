"""The program's side: it runs in the main thread, and answers requests when it is its turn.

While a pass is open, that thread meets requests; while the program computes on, the thread that
reads them does.  A request that comes during a long move interrupts it, is met, and the move goes
on.
"""

from __future__ import annotations

import os
import signal
from collections import deque
from contextlib import nullcontext, suppress
from functools import partial
from threading import Condition, Event, Thread
from time import sleep
from typing import Final, Literal

from gradstep.console.session import Session
from gradstep.dap.protocol import BadMessage, Body, Channel, Unframed
from gradstep.dap.requests import CONTINUE, Move, Requests, place_of
from gradstep.debugger.snapshot.timeline import Timeline
from gradstep.guest.collector import collector_slowed
from gradstep.program.calls import InterceptedCall
from gradstep.program.errors import ProgramError, ScriptDone
from gradstep.program.process import user_code
from gradstep.program.run import Failure, Found, run_target
from gradstep.records import Gradients

_URGENT: Final = ("pause", "cancel", "disconnect")
_PATIENCE: Final = 0.005  # seconds between two tries to interrupt a move


class Server:
    """Runs the program that the other side of ``channel`` wants, and serves it."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._requests = Requests(channel)
        self._timeline = Timeline()
        self._waiting: deque[Body] = deque()
        self._turn = Condition()
        self._is_open = False  # whether the main thread meets requests
        self._moves: Literal["", "all", "urgent"] = ""  # what interrupts the move that runs

    def run(self) -> Failure | None:
        """Run the program to its end; returns how it failed, None where it did not.

        Raises:
            ProgramError: there is nothing to run, or it leads to no graph.
        """
        Thread(target=self._read, daemon=True, name="gradstep dap").start()
        self._requests.ready.wait()
        launch = self._requests.launch
        if launch is None:
            raise ProgramError("nothing was launched")
        with collector_slowed():  # what is traced lives as long as the graph
            ran = run_target(
                launch.target, launch.arguments, launch.followed, self._debug_call,
                values="core", end=False,
            )  # fmt: skip
        if ran.found is not None:
            self._debug_tensor(ran.found)
        return ran.failure

    # the thread that reads

    def _read(self) -> None:
        while True:
            try:
                request = self._channel.read()
            except BadMessage:
                continue
            except Unframed:
                request = None
            if request is None:
                break
            with self._turn:
                if not self._is_open:
                    self._requests.handle(request)
                    continue
                self._requests.note(request)
                self._waiting.append(request)
                self._turn.notify()
            if self._moves:
                Thread(target=self._interrupt, args=[request], daemon=True).start()
        if not self._requests.is_detached:  # nobody is there to end it
            self._requests.ready.set()
            os.kill(os.getpid(), signal.SIGTERM)

    def _interrupt(self, request: Body) -> None:
        """Interrupt the move that runs until the requests that wait are met: one that only begins
        would not see a single try."""
        is_urgent = request.get("command") in _URGENT
        while self._waiting and (self._moves == "all" or (self._moves and is_urgent)):
            session = self._requests.session
            if session is not None:
                session.interrupt()
            sleep(_PATIENCE)

    # the main thread

    def _debug_call(self, intercepted: InterceptedCall) -> bool | Gradients:
        requests = self._requests
        launch = requests.launch
        assert launch is not None
        kind = intercepted.call.kind
        enters = launch.entered is not None and launch.entered.requests(intercepted.number, kind)
        enters |= requests.wants_stop
        if requests.is_detached or (requests.stops.is_empty and not enters):
            return False
        session = Session.of_call(
            intercepted.call,
            names=intercepted.names,
            call=intercepted.number,
            breakpoints=requests.stops.breakpoints,
            timeline=self._timeline,
        )
        session.host(partial(self._debug, session, enters))
        return session.gradients if intercepted.call.is_grad else True

    def _debug_tensor(self, subject: Found) -> None:
        """Debug ``root.backward()``, which nobody called."""
        subject.require_runnable()
        launch, stops = self._requests.launch, self._requests.stops
        session = Session(
            subject.root, names=subject.names, breakpoints=stops.breakpoints,
            timeline=self._timeline,
        )  # fmt: skip
        enters = launch is not None and launch.entered is not None
        with suppress(ScriptDone), user_code():
            session.host(partial(self._debug, session, enters))

    def _debug(self, session: Session, enters: bool) -> None:
        """Serve one pass to its end."""
        if (launch := self._requests.launch) is not None:
            session.program = launch.target.with_arguments(launch.arguments)
        with self._turn:
            self._is_open = True
            self._requests.begin(session)
        try:
            self._serve(session, enters)
        finally:
            self._close()
        if self._requests.leave == "abort":
            session.abort()
            raise ScriptDone
        session.finish()

    def _serve(self, session: Session, enters: bool) -> None:
        requests = self._requests
        hit = session.stops_here()
        move = None if enters or hit else CONTINUE
        if move is None:
            requests.stopped("entry", session.breakpoints.take_reached())
        while not requests.leave:
            if move is not None:
                if self._carry_out(session, move):
                    requests.wants_stop = move is not CONTINUE  # a step leads to the next call
                    return
                if requests.leave:
                    return
            self._handle_next(session)
            move = requests.move

    def _handle_next(self, session: Session) -> None:
        """Wait for a request, and meet it."""
        with self._turn:
            while not self._waiting:
                self._turn.wait()
        self._moves = "urgent"  # a command may move
        try:
            self._requests.handle(self._waiting.popleft())
        finally:
            self._moves = ""

    def _carry_out(self, session: Session, move: Move) -> bool:
        """Move, and tell where that led; True where the pass is to be left instead."""
        requests = self._requests
        if move.leaves and _is_over(session):
            return True
        requests.moves()
        start, is_done = place_of(session), False
        progress = (
            Progress(self._channel, session, move.name)
            if requests.shows_progress
            else nullcontext()
        )
        with progress:
            while not (is_done or requests.leave or requests.wants_stop):
                self._moves = "all"
                try:
                    if not self._waiting:
                        move.go(session)
                        resumes = move.goes_on or place_of(session) == start
                        is_done = session.reason != "interrupted" or not resumes
                finally:
                    self._moves = ""
                self._meet_waiting()
        if requests.leave:
            return False
        reached = session.breakpoints.take_reached()
        if (
            move is CONTINUE
            and reached is None
            and session.cursor.error is None
            and _is_over(session)
        ):
            requests.tell_messages()
            return True
        reason = "pause" if requests.wants_stop else _REASONS.get(move.name, "step")
        requests.stopped(reason, reached)
        return False

    def _meet_waiting(self) -> None:
        while self._waiting:
            self._requests.handle(self._waiting.popleft())

    def _close(self) -> None:
        """Leave the pass; from now on, the thread that reads meets requests."""
        while True:
            with self._turn:
                if not self._waiting:
                    self._requests.end()
                    self._is_open = False
                    return
            self._meet_waiting()


_REASONS: Final = {"goto": "goto", "restart": "restart"}


def _is_over(session: Session) -> bool:
    """Return whether nothing is left to run in the outermost pass: it is over, or has raised."""
    at_end = session.position == session.length or session.cursor.error is not None
    return at_end and len(session.frames) == 1


_TOLD_AFTER: Final = 0.5  # seconds before a move is told of
_TOLD_EVERY: Final = 0.25  # seconds


class Progress:
    """While it is entered, tells ``channel`` how far ``session`` is, once that takes long."""

    def __init__(self, channel: Channel, session: Session, name: str) -> None:
        self._channel, self._session, self._name = channel, session, name
        self._over = Event()
        self._thread = Thread(target=self._tell, daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _tell(self) -> None:
        if self._over.wait(_TOLD_AFTER):
            return
        title = f"gradstep: {self._name}"
        self._channel.event(
            "progressStart", progressId=self._name, title=title, cancellable=True, percentage=0
        )
        while not self._over.wait(_TOLD_EVERY):
            position, length = self._session.position, self._session.length
            self._channel.event(
                "progressUpdate",
                progressId=self._name,
                message=f"{position:,} of {length:,} nodes",
                percentage=100 * position // max(length, 1),
            )
        self._channel.event("progressEnd", progressId=self._name)
