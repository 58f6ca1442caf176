"""The thread in which PyTorch's engine runs, and how it takes turns with the session's.

The engine calls hooks; a session asks for one node after the other.  So they are in two threads, of
which one always waits for the other.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Final, NamedTuple

from gradstep.engines.pytorch.origins import current as origins
from gradstep.engines.pytorch.private import is_profiling, raise_sequence_nr, sequence_nr
from gradstep.engines.pytorch.stepping.thread_state import ThreadState
from gradstep.guest.fence import tell

Order = Callable[[], Any]
_PATIENCE: Final = 2.0  # seconds after which one who waits sees whether anybody will answer
_halted: dict[int, EngineThread] = {}
"""By thread, in the hooks of whose session an engine stands there."""


class Abort(BaseException):
    """Ends the engine's run at a hook of ours; it is no error of the program's."""


class _Answer(NamedTuple):
    """The outcome of an order; or that the engine was halted while it carries one out."""

    halted: bool = False
    value: Any = None
    error: BaseException | None = None


class EngineThread:
    """Carries out orders one by one, in the program's own thread or in one like it.

    Between :meth:`halt` and the order to go on, others may be given: they are carried out where
    the engine waits.

    Args:
        makes_graph: whether nodes are made in the thread that the program goes on from.  In which
            order a later pass runs them depends on their numbers, which PyTorch gives by thread.
    """

    def __init__(self, *, makes_graph: bool = False) -> None:
        self._makes_graph, self._program = makes_graph, threading.get_ident()
        self._next_number = sequence_nr() if makes_graph and sequence_nr is not None else 0
        # as they are in the program's thread; the session may work in another one
        self._state, self._context = ThreadState.of_this_thread(), contextvars.copy_context()
        self._orders: SimpleQueue[Order | bool | None] = SimpleQueue()
        self._answers: SimpleQueue[_Answer] = SimpleQueue()
        self._hosted = False
        self._server = 0  # the thread that carries out orders
        self._thread: threading.Thread | None = None
        self._profiled = is_profiling()

    def host(self, body: Callable[[], Any]) -> Any:
        """Run ``body`` in another thread, and orders that it gives in this one; returns, or raises,
        what ``body`` does."""
        if self._hosted or self._thread is not None:
            return body()
        context = contextvars.copy_context()
        outcome: list[_Answer] = []

        def run() -> None:
            try:
                with self._state.on_devices():
                    outcome.append(_Answer(value=context.run(body)))
            except BaseException as error:
                outcome.append(_Answer(error=error))
            finally:
                self._orders.put(None)

        self._hosted, self._server = True, threading.get_ident()
        session = threading.Thread(target=run, name="gradstep session", daemon=True)
        session.start()
        try:
            self._serve()
        except BaseException as error:  # ctrl+c between two orders
            self._answers.put(_Answer(error=error))
            session.join()
            raise
        finally:
            self._hosted = False
        session.join()
        (answer,) = outcome
        if answer.error is not None:
            raise answer.error
        return answer.value

    def _serve(self) -> bool:
        """Carry out orders until there are no more (False), or until the engine is to go on, or to
        end (True, or :class:`Abort`)."""
        while (order := self._orders.get()) is not None:
            if order is True:
                return True
            if order is False:
                raise Abort
            try:
                self._answers.put(_Answer(value=order()))
            except BaseException as error:
                self._answers.put(_Answer(error=error))
        return False

    # the session's side

    @property
    def serves(self) -> bool:
        """Whether another thread than the one that asks is there to carry out orders."""
        there = self._hosted or self._thread is not None
        return there and threading.get_ident() != self._server

    def start(self, order: Order) -> bool:
        """Let the thread carry out ``order``; returns when that is done (True), or has halted.

        Raises:
            BaseException: whatever ``order`` raises.
        """
        if not self._hosted and self._thread is None:

            def serve() -> None:
                self._server = threading.get_ident()
                # the number of a node made here may be that of one of the program's thread
                self._context.run(origins.set, None)
                try:
                    with self._state.applied(), suppress(Abort):
                        self._context.run(self._serve)
                except BaseException as error:  # its state cannot be had here
                    self._answers.put(_Answer(error=error))

            self._thread = threading.Thread(target=serve, name="gradstep engine", daemon=True)
            self._thread.start()
        if self._makes_graph and not self._hosted:
            self._take_number()
            order = partial(self._numbered, order)
        self._orders.put(order)
        return self._wait()

    def _numbered(self, order: Order) -> Any:
        """Carry out ``order``; nodes get the numbers that they would in the program's thread."""
        raise_sequence_nr(self._next_number)
        try:
            return order()
        finally:
            self._take_number()

    def _take_number(self) -> None:
        """Note the number that the next node gets, of those of the program's and of this thread."""
        if sequence_nr is not None and threading.get_ident() in (self._program, self._server):
            self._next_number = max(self._next_number, sequence_nr())

    def go_on(self) -> bool:
        """Let the halted engine run on; returns and raises as :meth:`start` does."""
        self._orders.put(True)
        return self._wait()

    def abort(self) -> None:
        """End the halted engine's run."""
        self._orders.put(False)
        with suppress(Abort):
            self._wait()

    def _wait(self) -> bool:
        while True:
            try:
                answer = self._answers.get(timeout=_PATIENCE)
                break
            except Empty:
                self._see_that_it_runs()
        if answer.error is not None:
            raise answer.error
        return not answer.halted

    def _see_that_it_runs(self) -> None:
        """See that an answer will come, be it from a node that takes its time.

        Raises:
            RuntimeError: it will not.
        """
        if self._thread is not None and not self._thread.is_alive() and self._answers.empty():
            raise RuntimeError("the thread of PyTorch's engine has ended: open a new session")
        if _halted.get(self._server, self) is not self:
            raise RuntimeError(
                "another session halts PyTorch's engine inside this pass: finish or abort it first"
            )

    def close(self) -> None:
        """End the thread, if there is one of its own."""
        if self._thread is not None:
            self._orders.put(None)
            self._thread.join()
            self._thread = None
            if threading.get_ident() == self._program:
                raise_sequence_nr(self._next_number)
            if self._profiled:  # PyTorch's profiler cannot be taken along to another thread
                tell(
                    "a profile that is being made lacks the ops of this backward pass, which ran "
                    "in a thread of the debugger's; gradstep debug --batch runs it in the program's"
                )

    def drop(self) -> None:
        """End the thread, and the engine's run where it is halted: nobody will ask for more."""
        self._orders.put(False)
        self._orders.put(None)
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_PATIENCE)

    # the engine's side

    def halt(self) -> None:
        """Wait, in a hook, until the session lets the engine go on.

        Raises:
            Abort: it is to end.
        """
        here = threading.get_ident()
        around, _halted[here] = _halted.get(here), self
        self._answers.put(_Answer(halted=True))
        try:
            if not self._serve():
                self._orders.put(None)  # the session is over, though nobody ended this run
                raise Abort
        finally:
            if around is None:
                del _halted[here]
            else:
                _halted[here] = around
