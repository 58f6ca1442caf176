"""The debugger without a screen: a backward pass that stops, goes back and tells all.

A session stands at a *position* of the plan.  What has run is recorded; moving within the
recording calls no code, moving past its end runs the next node.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from weakref import proxy

from autograd_core.autograd.backward import BackwardCall, Gradients, make_call
from autograd_core.autograd.node import Node
from autograd_core.dag.capture import capture
from autograd_core.dag.model import Graph
from autograd_core.dag.names import Names, caller_names
from autograd_core.debug.commands import open_console
from autograd_core.debug.driver import NativeDriver
from autograd_core.debug.editing import Editor
from autograd_core.debug.history import DEFAULT_BUDGET
from autograd_core.debug.ledger import Ledger
from autograd_core.debug.locations import locate
from autograd_core.debug.scopes import Scopes
from autograd_core.debug.snapshot import (
    Breakpoint,
    Entry,
    LeafGradient,
    NodeDetail,
    Phase,
    Reply,
    Snapshot,
)
from autograd_core.debug.stops import Stops
from autograd_core.debug.view import Inspector
from autograd_core.debug.walk import Walk
from autograd_core.tensor import Tensor


class Session:
    """Debug one backward pass.

    >>> import autograd_core as torch
    >>> a = torch.tensor(2.0, requires_grad=True)
    >>> session = Session(a * a + a)
    >>> print(session.do("next").text)
    #1 mul:1  MulBackward0  g · a, g · a
    >>> session.finish()
    >>> a.grad
    tensor(5.)

    Args:
        roots: what ``backward`` would be called on; scalars unless ``gradient`` is given.
        gradient, retain_graph, create_graph: as ``backward`` takes them.
        names: names of tensors; by default the variables of the calling program.
        call: which backward call of the program this is, from 1 on.
        stops: where to stop; handed from session to session, they outlive a call.
        history_bytes: how much the recording may take; beyond, it is computed again when it is
            asked for.

    Attributes:
        graph: the backward graph; node k is plan index k.
        edit: changes gradients, edges and hooks; see :class:`Editor`.
        console: carries out command lines.
    """

    def __init__(
        self,
        roots: Tensor | Sequence[Tensor],
        gradient: Tensor | Sequence[Tensor | None] | None = None,
        *,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        names: Names | None = None,
        call: int = 1,
        stops: Stops | None = None,
        history_bytes: int = DEFAULT_BUDGET,
    ) -> None:
        backward_call = make_call(roots, gradient, retain_graph, create_graph)
        self._begin(backward_call, names or caller_names(), call, stops, history_bytes)

    @classmethod
    def of_call(
        cls,
        backward_call: BackwardCall,
        *,
        names: Names,
        call: int = 1,
        stops: Stops | None = None,
        history_bytes: int = DEFAULT_BUDGET,
    ) -> Session:
        """The session of a call of ``backward`` or ``grad`` that was intercepted."""
        session = cls.__new__(cls)
        session._begin(backward_call, names, call, stops, history_bytes)
        return session

    def _begin(
        self,
        backward_call: BackwardCall,
        names: Names,
        call: int,
        stops: Stops | None,
        history_bytes: int,
    ) -> None:
        self.call = call
        driver = NativeDriver(backward_call)
        seeds = [g if isinstance(g, Tensor) else Tensor.from_array(g) for g in backward_call.seeds]
        self.graph: Graph = capture(
            backward_call.roots,
            "backward",
            names=names,
            gradient=seeds,
            plan=driver.plan,
            order=driver.order,
            live=True,
        )
        self._walk = walk = Walk(driver, history_bytes)
        self._ledger = Ledger(
            self.graph, driver.order, driver.entering_seeds(), walk.history, driver.pending
        )
        self._inspector = Inspector(walk, self.graph, self._ledger)
        self._scopes = Scopes(self.graph, walk.length)
        self.edit = Editor(walk, self._inspector.leaf, self._inspector.edited)
        self.stops = Stops() if stops is None else stops
        self.stops.bind(self.graph, walk.length)
        self._reason = "before the first node"
        self.console = open_console(proxy(self))  # a cycle would keep the graph alive
        self._closed = False

    # where we are

    @property
    def length(self) -> int:
        """How many nodes the plan has."""
        return self._walk.length

    @property
    def order(self) -> Sequence[Node]:
        """The nodes of the plan, in the order in which they run."""
        return self._walk.driver.order

    @property
    def position(self) -> int:
        """The plan index of the node that runs next."""
        return self._walk.position

    @property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        return self.stops.points

    @property
    def snapshot(self) -> Snapshot:
        """The debugger as it stands, frozen."""
        walk = self._walk
        position, error, finished = walk.position, walk.error, walk.position == walk.length
        return Snapshot(
            call=self.call,
            position=position,
            recorded=len(walk.history),
            length=walk.length,
            status="failed" if error else "finished" if finished else "paused",
            reason=self._reason,
            graph=self.graph,
            current=None if finished else self.detail(position),
            leaves=self._inspector.leaves(),
            pending=self._inspector.pending(),
            breakpoints=self.breakpoints,
            bytes_recorded=walk.history.usage.bytes,
            error="" if error is None else f"{type(error).__name__}: {error}",
            usage=walk.history.usage,
            phase=walk.phase,
            edits=self.edit.records,
        )

    def detail(self, index: int) -> NodeDetail:
        """All that is known at this position about plan node ``index``."""
        return self._inspector.detail(index)

    def leaf(self, index: int) -> LeafGradient | None:
        """The ``.grad`` of the leaf whose AccumulateGrad is node ``index``, None elsewhere."""
        return self._inspector.leaf(index)

    def phases(self, index: int) -> tuple[Phase, ...]:
        """What has happened inside node ``index`` so far: hooks, formula, deliveries ..."""
        return self._inspector.phases(index)

    def ledger(self, index: int, input_nr: int = 0) -> Iterator[Entry]:
        """Every contribution to one input of node ``index`` so far, with the running sum."""
        return self._ledger.entries(index, input_nr, self._walk.moment)

    def path(self, index: int) -> tuple[int, ...]:
        """The shortest way of the gradient from a root to node ``index``, as plan indices."""
        return self._ledger.path(index)

    # moving

    def next(self, count: int = 1) -> None:
        """Run the next node, or several."""
        self._go(self.position + count)

    def back(self, count: int = 1) -> None:
        """Take the last node back, or several; inside a node, the first is what it has done."""
        self._go(self.position - count + (self._walk.phase > 0))

    def step(self, count: int = 1) -> None:
        """Go on by a phase of a node: a hook, the formula, one delivery ..."""
        with self._moving():
            while count and not self._walk.interrupted and self._walk.step():
                count -= 1

    def step_back(self, count: int = 1) -> None:
        """Go back by a phase."""
        with self._moving():
            while count and not self._walk.interrupted and self._walk.step_back():
                count -= 1

    def over(self, count: int = 1) -> None:
        """Go on behind the module that begins here, or by one node."""
        for _ in range(count):
            if self.position < self.length:
                self._go(self._scopes.over(self.position))

    def back_over(self, count: int = 1) -> None:
        """Go back before the module that ends here, or by one node."""
        for _ in range(count):
            if self.position:
                self._go(self._scopes.back_over(self.position))

    def out(self, count: int = 1) -> None:
        """Go on behind the module around this node."""
        for _ in range(count):
            if self.position < self.length:
                self._go(self._scopes.out(self.position))

    def back_out(self, count: int = 1) -> None:
        """Go back before the module around the node before."""
        for _ in range(count):
            self._go(self._scopes.back_out(self.position))

    def until(self, location: str, count: int = 1) -> None:
        """Go on, or back, to just before the next node that ``location`` means.

        Raises:
            UnknownLocation: it means nothing in this plan.
        """
        found = locate(self.graph, location, self.length)
        ahead = [index for index in found if index > self.position]
        self._go(ahead[min(count, len(ahead)) - 1] if ahead else found[0])

    def jump(self, position: int) -> None:
        """Go to any position, forwards or back."""
        self._go(position)

    def restart(self) -> None:
        """Go back to before the first node."""
        self._go(0)

    def continue_(self) -> None:
        """Go on to the next stop, or to the end."""
        self._seek(self.length)

    def reverse_continue(self) -> None:
        """Go back to the stop before, or to the start."""
        self._seek(0)

    def interrupt(self) -> None:
        """From another thread: stop before the next node."""
        self._walk.interrupted = True

    def _go(self, position: int) -> None:
        with self._moving():
            self._walk.travel(max(0, min(position, self.length)))

    def _seek(self, end: int) -> None:
        """Go towards ``end`` until a stop is reached."""
        walk, reached = self._walk, None
        with self._moving():
            walk.leave_node()
            while walk.position != end and reached is None and walk.travel(self._next_stop(end)):
                reached = self.stops.at(self, walk.position)
        if reached is not None:
            self._reason = reached.reason

    def _next_stop(self, end: int) -> int:
        """The next position towards ``end`` at which a stop is possible."""
        ahead = end > self.position
        if self.stops.conditional:
            return self.position + (1 if ahead else -1)
        positions = self.stops.positions
        if ahead:
            place = bisect_right(positions, self.position)
            return min(positions[place], end) if place < len(positions) else end
        place = bisect_left(positions, self.position)
        return positions[place - 1] if place else end

    @contextmanager
    def _moving(self) -> Iterator[None]:
        """Move inside; afterwards, say where that led."""
        walk = self._walk
        walk.interrupted = False
        yield
        self._reason = self._where()
        walk.interrupted = False

    def _where(self) -> str:
        walk = self._walk
        if walk.error is not None:
            culprit = f", in its {walk.driver.failed_in}," if walk.driver.failed_in else ""
            return f"node #{walk.position}{culprit} raised {type(walk.error).__name__}"
        if walk.interrupted:
            return "interrupted"
        if walk.position == walk.length:
            return "end of the backward pass"
        if walk.phase:
            return walk.phases[walk.phase - 1].text
        return "" if walk.position else "before the first node"

    # the end

    def finish(self) -> None:
        """Run what is left, as plain ``backward`` would have.

        Raises whatever a node or hook raises, as the plain pass does.
        """
        if not self._closed:
            self._walk.run_out()
            self._closed = True

    @property
    def gradients(self) -> Gradients:
        """After :meth:`finish`, what a call of ``grad`` returns to the program."""
        return self._walk.driver.gradients()

    def abort(self) -> None:
        """Leave every ``.grad`` as it was before the pass."""
        if not self._closed:
            self._go(0)
            self._closed = True

    def do(self, line: str) -> Reply:
        """Carry out one command, such as ``next 10``; an empty line repeats the last one."""
        return self.console.do(line)
