"""Runs commands in a thread of their own, so that the screen stays alive."""

from __future__ import annotations

import asyncio
import contextvars
from concurrent.futures import ThreadPoolExecutor

from autograd_core.debug.protocol import DebugSession
from autograd_core.debug.snapshot import Reply


class CommandRunner:
    """One thread, one command at a time.

    The commands see the context variables of the code that opened the debugger (grad mode,
    for instance), and each sees what the one before it set, as in a plain run.
    """

    def __init__(self, session: DebugSession) -> None:
        self._session = session
        self._context = contextvars.copy_context()
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gradstep")

    def start(self, line: str) -> asyncio.Future[Reply]:
        """Begin ``line``; the future never holds an exception."""
        work = self._executor.submit(self._context.run, self._do, line)
        return asyncio.wrap_future(work)

    def _do(self, line: str) -> Reply:
        try:
            return self._session.do(line)
        except BaseException as error:  # a hook may even call sys.exit(): the screen stays
            return Reply(f"{type(error).__name__}: {error}", error=True)

    def close(self) -> None:
        self._executor.shutdown(wait=False)
