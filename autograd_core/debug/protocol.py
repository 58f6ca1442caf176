"""What a face of the debugger (screen, command file, CI) may ask of a session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from autograd_core.autograd.node import Node
from autograd_core.dag.names import Names
from autograd_core.debug.breakpoints import Breakpoints
from autograd_core.debug.breakpoints.predicate import Inspected
from autograd_core.debug.passes.editor import Editor
from autograd_core.debug.snapshot import (
    Entry,
    Frame,
    NodeDetail,
    Phase,
    Reply,
    Snapshot,
)
from autograd_core.debug.snapshot.timeline import Timeline
from autograd_core.tensor import Tensor


class DebugSession(Protocol):
    """Commands in, frozen records out; :class:`autograd_core.debug.Session` is the real one."""

    @property
    def snapshot(self) -> Snapshot:
        """The debugger as it stands now."""
        ...

    def do(self, line: str) -> Reply:
        """Carry out one command line, such as ``next 10`` or ``break mul``; never raises for
        a wrong one."""
        ...

    def detail(self, index: int) -> NodeDetail:
        """All that is known now about plan node ``index``."""
        ...

    def phases(self, index: int) -> tuple[Phase, ...]:
        """What has happened inside plan node ``index``, which has run or is being run."""
        ...

    def ledger(self, index: int, input_nr: int = 0) -> Iterator[Entry]:
        """Every contribution to one input of plan node ``index``, with the sum so far."""
        ...

    @property
    def position(self) -> int:
        """The plan node that runs next; may be read while another thread runs a command."""
        ...

    @property
    def selected(self) -> int | None:
        """The node that inspecting commands speak of; None at the end of the pass."""
        ...

    def select(self, index: int) -> None:
        """Let inspecting commands speak of node ``index``, until something moves."""
        ...

    def interrupt(self) -> None:
        """From another thread: stop before the next node."""
        ...

    def complete(self, line: str, column: int) -> list[str]:
        """What may stand where the word before ``column`` of a command line stands."""
        ...


class Steered(DebugSession, Inspected, Protocol):
    """What the command language moves and asks: the methods behind its words."""

    breakpoints: Breakpoints
    timeline: Timeline

    @property
    def order(self) -> Sequence[Node]: ...

    @property
    def roots(self) -> Sequence[Tensor]: ...

    @property
    def names(self) -> Names: ...

    @property
    def frames(self) -> tuple[Frame, ...]: ...

    def nested(self, index: int) -> int: ...

    def enter(self, index: int, number: int = 0) -> bool: ...

    def leave(self) -> bool: ...

    @property
    def edit(self) -> Editor: ...

    def path(self, index: int) -> tuple[int, ...]: ...

    def take_interrupt(self) -> bool: ...

    def next(self, count: int = 1) -> None: ...

    def back(self, count: int = 1) -> None: ...

    def step(self, count: int = 1) -> None: ...

    def step_back(self, count: int = 1) -> None: ...

    def over(self, count: int = 1) -> None: ...

    def back_over(self, count: int = 1) -> None: ...

    def out(self, count: int = 1) -> None: ...

    def back_out(self, count: int = 1) -> None: ...

    def continue_(self) -> None: ...

    def reverse_continue(self) -> None: ...

    def until(self, location: str, count: int = 1) -> None: ...

    def jump(self, position: int) -> None: ...

    def restart(self) -> None: ...
