"""Runs commands in a thread of their own, so that the screen stays alive."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from autograd_core.debug.records.snapshot import Reply


class CommandRunner:
    """One thread, one piece of work at a time.

    The work sees the context variables of the code that opened the debugger (grad mode,
    for instance), and each piece sees what the one before it set, as in a plain run.
    """

    def __init__(self) -> None:
        self._context = contextvars.copy_context()
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="gradstep")

    def start(self, work: Callable[[], Reply]) -> asyncio.Future[Reply]:
        """Begin ``work``; the future never holds an exception."""
        return asyncio.wrap_future(self._executor.submit(self._context.run, _caught, work))

    def close(self) -> None:
        self._executor.shutdown(wait=False)


def _caught(work: Callable[[], Reply]) -> Reply:
    try:
        return work()
    except BaseException as error:  # a hook may even call sys.exit(): the screen stays
        return Reply(f"{type(error).__name__}: {error}", error=True)
