"""A session at work in a thread of its own, so that the screen stays alive.

Nobody else on the screen has the session: what may be asked of it, by :class:`Facts`, and when, is
decided here alone: nothing while it is at work.
"""

from __future__ import annotations

import asyncio
import contextvars
import ctypes
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple

from textual.message import Message

from gradstep.console.session import Session
from gradstep.debugger.snapshot import Reply, Snapshot
from gradstep.graph.addresses import node_text
from gradstep_tui.app.facts import Facts
from gradstep_tui.app.plan.picture import write_picture
from gradstep_tui.errors import AtWork

_Work = Callable[[Session], Reply]


class Progress(NamedTuple):
    """The work of a session, and how many nodes have run."""

    work: str
    position: int


@dataclass(eq=False)
class SnapshotReady(Message):
    """Work is done: what was answered, where the session stands, and the node that it selects.

    ``line`` is the command that was carried out, "" for other work.
    """

    snapshot: Snapshot
    reply: Reply
    selected: int | None
    line: str = ""
    typed: bool = False


class SessionWorker:
    """Does one piece of work at a time with a session, and posts a :class:`SnapshotReady`; while it
    rests, ``facts`` tells what is known of the pass.

    The work sees the context variables of the code that opened the debugger (grad mode,
    for instance), and each piece sees what the one before it set, as in a plain run.
    ``snapshot`` is where the session stood after the last piece.  Work that ends within ``grace``
    seconds never shows as busy, and keys typed ahead wait for it.
    """

    grace = 0.05

    def __init__(self, session: Session, post: Callable[[SnapshotReady], object]) -> None:
        self.snapshot = session.snapshot
        self.facts = Facts(session, self._at_rest)
        self._session = session
        self._post = post
        self._context = contextvars.copy_context()
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gradstep")
        self._work = ""
        self._started = 0.0
        self._thread: int | None = None
        self.asked = 0  # how often, to stop
        self._shown = asyncio.Event()

    def _at_rest(self) -> Session:
        if self._work:
            raise AtWork(f"busy with {self._work}; this key did nothing (esc pauses)")
        return self._session

    @property
    def progress(self) -> Progress | None:
        """The progress of the work; None where there is none, or none that lasts."""
        if not self._work or monotonic() < self._started + self.grace:
            return None
        return Progress(self._work, self._session.position)

    def carry_out(self, line: str, selected: int | None = None) -> None:
        """Begin to carry out a command line; one that was typed speaks of the node that is
        ``selected``.

        Raises:
            AtWork: something is being done.
        """

        def work(session: Session) -> Reply:
            if selected is not None and selected not in (-1, session.selected):
                session.select(selected)
            return session.reply(line)

        self._start(line, work, line, typed=selected is not None)

    def draw(self, snapshot: Snapshot, node: int) -> None:
        """Begin to write a picture of the graph around a node.

        Raises:
            AtWork: something is being done.
        """

        def work(session: Session) -> Reply:
            path = write_picture(snapshot, node, lambda index: session.detail(index).outgoing)
            return Reply(f"wrote {path}")

        self._start("drawing", work)

    def _start(self, name: str, work: _Work, line: str = "", *, typed: bool = False) -> None:
        session = self._at_rest()
        self._work, self._started, self.asked = name, monotonic(), 0
        self._shown.clear()
        self._executor.submit(self._context.run, self._do, session, work, line, typed)

    def _do(self, session: Session, work: _Work, line: str, typed: bool) -> None:
        self._thread = threading.get_ident()
        try:
            try:
                reply = work(session)
            finally:
                self.snapshot = session.snapshot
        except KeyboardInterrupt:  # by _break_off
            node = node_text(session.graph, min(session.position, session.length - 1))
            reply = Reply(f"interrupted in {node}, which has not run to its end")
        except BaseException as error:  # a hook may even call sys.exit(): the screen stays
            reply = Reply(f"{type(error).__name__}: {error}", error=True)
        self._post(SnapshotReady(self.snapshot, reply, session.selected, line, typed))

    def rest(self) -> None:
        """Let the session be asked again: what it did is about to be shown."""
        self._work = ""
        self.facts.forget()
        self._shown.set()

    async def settled(self) -> None:
        """Wait until the work is done and shown, but not for work that lasts."""
        if self._work:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._started + self.grace - monotonic()):
                    await self._shown.wait()

    def interrupt(self) -> str:
        """Ask the session to stop before the next node; what it is doing, "" for nothing."""
        if self._work:
            self._session.interrupt()
            self.asked += 1
            if self.asked > 1:
                self._break_off()
        return self._work

    def _break_off(self) -> None:
        """Raise KeyboardInterrupt in the node that runs, which may never come to its end."""
        engines = [active for active in threading.enumerate() if active.name == "gradstep engine"]
        thread = engines[-1].ident if engines else self._thread
        if thread is not None:
            raised = ctypes.py_object(KeyboardInterrupt)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)

    def close(self) -> None:
        """Take no more work."""
        self._executor.shutdown(wait=False)
