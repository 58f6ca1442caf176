"""A session at work in a thread of its own, so that the screen stays alive.

What may be asked of a session is decided here alone: nothing while it is at work.
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

from gradstep.debugger.session import Session
from gradstep.debugger.snapshot import Reply, Snapshot
from gradstep.findings.reports.rows import node_text
from gradstep_tui.errors import AtWork

Work = Callable[[Session], Reply]


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
    """Does one piece of work at a time with a session, and posts a :class:`SnapshotReady`.

    The work sees the context variables of the code that opened the debugger (grad mode,
    for instance), and each piece sees what the one before it set, as in a plain run.
    ``snapshot`` is where the session stood after the last piece.  Work that ends within ``grace``
    seconds never shows as busy, and keys typed ahead wait for it.
    """

    grace = 0.05

    def __init__(self, session: Session, post: Callable[[SnapshotReady], object]) -> None:
        self.snapshot = session.snapshot
        self._session = session
        self._post = post
        self._context = contextvars.copy_context()
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gradstep")
        self._work = ""
        self._started = 0.0
        self._thread: int | None = None
        self.asked = 0  # how often, to stop
        self._shown = asyncio.Event()

    @property
    def session(self) -> Session:
        """The session, to be asked something at once.

        Raises:
            AtWork: it is doing something.
        """
        if self._work:
            raise AtWork(f"busy with {self._work}; this key did nothing (esc pauses)")
        return self._session

    @property
    def progress(self) -> Progress | None:
        """The progress of the work; None where there is none, or none that lasts."""
        if not self._work or monotonic() < self._started + self.grace:
            return None
        return Progress(self._work, self._session.position)

    def start(self, name: str, work: Work, line: str = "", *, typed: bool = False) -> None:
        """Begin ``work``, which carries out the command ``line`` or something else.

        Raises:
            AtWork: something is being done.
        """
        session = self.session
        self._work, self._started, self.asked = name, monotonic(), 0
        self._shown.clear()
        self._executor.submit(self._context.run, self._carry_out, session, work, line, typed)

    def _carry_out(self, session: Session, work: Work, line: str, typed: bool) -> None:
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
        engines = [each for each in threading.enumerate() if each.name == "gradstep engine"]
        thread = engines[-1].ident if engines else self._thread
        if thread is not None:
            raised = ctypes.py_object(KeyboardInterrupt)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)

    def close(self) -> None:
        """Take no more work."""
        self._executor.shutdown(wait=False)
