"""The debugger without a screen: a backward pass that stops, goes back and tells all.

A session stands at a *position* of the plan.  What has run is recorded; moving within the
recording calls no code, moving past its end runs the next node.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from weakref import proxy

from autograd_core.autograd.call import BackwardCall, Gradients, make_call
from autograd_core.autograd.profiler import profile
from autograd_core.dag.capture.roots import tensors_in
from autograd_core.dag.names import Names, caller_names
from autograd_core.debug.breakpoints import Breakpoints
from autograd_core.debug.commands import complete, open_console
from autograd_core.debug.history import DEFAULT_BUDGET
from autograd_core.debug.passes.recorded_pass import RecordedPass
from autograd_core.debug.seeking import Seeking
from autograd_core.debug.snapshot import (
    Entry,
    Reply,
    Snapshot,
)
from autograd_core.debug.snapshot.timeline import Timeline
from autograd_core.tensor import Tensor


class Session(Seeking):
    """Debug one backward pass.

    >>> import autograd_core as torch
    >>> a = torch.tensor(2.0, requires_grad=True)
    >>> session = Session(a * a + a)
    >>> print(session.do("next").text)
    #2 mul:1  MulBackward0  g · a, g · a
    >>> session.finish()
    >>> a.grad
    tensor(5.)

    Args:
        roots: what ``backward`` would be called on; scalars unless ``gradient`` is given.
        gradient, retain_graph, create_graph: as ``backward`` takes them.
        names: names of tensors; by default the variables of the calling program.
        call: which backward call of the program this is, from 1 on.
        breakpoints: where to stop; handed from session to session, they outlive a call.
        timeline: what calls before this one did; this one is added when it is over.
        history_bytes: how much the recording may take; beyond, it is computed again when it is
            asked for.
        measured: a profile of the forward pass, which knows what each op took; by default the
            one that is being made.

    Raises:
        NotInGraph: a root is no tensor.
        RuntimeError: as ``backward`` does.

    Attributes:
        timeline: the calls of the program that are over.
        console: carries out command lines.
    """

    def __init__(
        self,
        roots: Tensor | Sequence[Tensor],
        gradient: Tensor | Sequence[Tensor | None] | None = None,
        *,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        names: Names | Mapping[str, Any] | None = None,
        call: int = 1,
        breakpoints: Breakpoints | None = None,
        timeline: Timeline | None = None,
        history_bytes: int = DEFAULT_BUDGET,
        measured: profile | None = None,
    ) -> None:
        backward_call = make_call(tensors_in(roots), gradient, retain_graph, create_graph)
        self._begin(
            backward_call, _names(names), call, breakpoints, timeline, history_bytes, measured
        )

    @classmethod
    def of_call(
        cls,
        backward_call: BackwardCall,
        *,
        names: Names,
        call: int = 1,
        breakpoints: Breakpoints | None = None,
        timeline: Timeline | None = None,
        history_bytes: int = DEFAULT_BUDGET,
        measured: profile | None = None,
    ) -> Session:
        """The session of a call of ``backward`` or ``grad`` that was intercepted."""
        session = cls.__new__(cls)
        session._begin(backward_call, names, call, breakpoints, timeline, history_bytes, measured)
        return session

    def _begin(
        self,
        backward_call: BackwardCall,
        names: Names,
        call: int,
        breakpoints: Breakpoints | None,
        timeline: Timeline | None,
        history_bytes: int,
        measured: profile | None,
    ) -> None:
        first = RecordedPass(backward_call, names, history_bytes, measured)
        super().__init__(first, call, Breakpoints() if breakpoints is None else breakpoints)
        self.timeline = Timeline() if timeline is None else timeline
        self._closed = False
        self.console = open_console(proxy(self))  # a cycle would keep the graph alive

    # where we are

    def __repr__(self) -> str:
        run = f"{self.position} of {self.length} nodes have run"
        hint = f"; {self._pass.hint}" if self._pass.hint else ""
        return f"<Session: {self._pass.title}, {run}{hint}>"

    @property
    def snapshot(self) -> Snapshot:
        """The debugger as it stands, frozen."""
        cursor = self._cursor
        position, error, finished = cursor.position, cursor.error, cursor.position == cursor.length
        return Snapshot(
            call=self.call,
            position=position,
            recorded=len(cursor.history),
            length=cursor.length,
            status="failed" if error else "finished" if finished else "paused",
            reason=self.reason,
            graph=self.graph,
            current=None if finished else self.detail(position),
            leaves=self._pass.inspector.leaves(),
            pending=self._pass.inspector.pending(),
            breakpoints=self.breakpoints.points,
            bytes_recorded=cursor.history.usage.bytes,
            error="" if error is None else f"{type(error).__name__}: {error}",
            usage=cursor.history.usage,
            phase=cursor.phase,
            edits=self.edit.records,
            frames=self.frames,
            hint=self._pass.hint,
            calls=self.timeline.calls,
            kind=self.kind,
        )

    def ledger(self, index: int, input_nr: int = 0) -> Iterator[Entry]:
        """Every contribution to one input of node ``index`` so far, and every change by the user,
        with the running sum."""
        changes = self._cursor.edits.of_sum(index, input_nr)
        return self._pass.ledger.entries(index, input_nr, self._cursor.state, changes)

    def path(self, index: int) -> tuple[int, ...]:
        """The shortest way of the gradient from a root to node ``index``, as plan indices."""
        return self._pass.ledger.order_of_contributions.path(index)

    # the end

    def finish(self) -> None:
        """Run what is left, as plain ``backward`` would have.

        Raises whatever a node or hook raises, as the plain pass does.
        """
        if not self._closed:
            self._leave_all()
            self._pass.run_out()
            self._closed = True
            self.timeline.add(self._pass.record(self.call))

    @property
    def gradients(self) -> Gradients:
        """After :meth:`finish`, what a call of ``grad`` returns to the program."""
        return self._pass.driver.gradients()

    def abort(self) -> None:
        """Leave every ``.grad`` as it was before the pass."""
        if not self._closed:
            self._leave_all()
            self._go(0)
            self._closed = True

    @property
    def selected(self) -> int | None:
        """The node that inspecting commands speak of; None at the end of the pass."""
        return self.console.node()

    def select(self, index: int) -> None:
        """Let inspecting commands speak of node ``index``, until something moves."""
        self.console.selected = index

    def complete(self, line: str, column: int) -> list[str]:
        """What may stand where the word before ``column`` of a command line stands."""
        return complete(proxy(self), line, column)

    def do(self, line: str) -> Reply:
        """Carry out one command, such as ``next 10``; an empty line repeats the last one."""
        return self.console.do(line)


def _names(given: Names | Mapping[str, Any] | None) -> Names:
    if given is None:
        return caller_names()
    return given if isinstance(given, Names) else Names(given)
