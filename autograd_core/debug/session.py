"""The debugger without a screen: a backward pass that stops, goes back and tells all.

A session stands at a *position* of the plan.  What has run is recorded; moving within the
recording calls no code, moving past its end runs the next node.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from autograd_core.autograd.backward import BackwardCall, make_call
from autograd_core.autograd.engine import Step
from autograd_core.dag.capture import capture
from autograd_core.dag.model import Graph
from autograd_core.dag.names import Names, caller_names
from autograd_core.debug.commands import open_console
from autograd_core.debug.driver import Driver, NativeDriver
from autograd_core.debug.ledger import Ledger
from autograd_core.debug.locations import locate
from autograd_core.debug.snapshot import (
    Breakpoint,
    LeafGradient,
    NodeDetail,
    Reply,
    Snapshot,
)
from autograd_core.debug.stops import Stops
from autograd_core.debug.view import Inspector
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
    ) -> None:
        backward_call = make_call(roots, gradient, retain_graph, create_graph)
        self._begin(backward_call, names or caller_names(), call, stops)

    @classmethod
    def of_call(
        cls,
        backward_call: BackwardCall,
        *,
        names: Names,
        call: int = 1,
        stops: Stops | None = None,
    ) -> Session:
        """The session of a call of ``backward`` that was intercepted."""
        session = cls.__new__(cls)
        session._begin(backward_call, names, call, stops)
        return session

    def _begin(
        self, backward_call: BackwardCall, names: Names, call: int, stops: Stops | None
    ) -> None:
        self.call = call
        self._driver: Driver = NativeDriver(backward_call)
        seeds = [g if isinstance(g, Tensor) else Tensor.from_array(g) for g in backward_call.seeds]
        self.graph: Graph = capture(
            backward_call.roots,
            "backward",
            names=names,
            gradient=seeds,
            plan=self._driver.plan,
            order=self._driver.order,
            live=True,
        )
        order = self._driver.order
        ledger = Ledger(order, backward_call.roots, backward_call.seeds)
        self._history: list[Step] = []
        self._position = 0
        self._inspector = Inspector(order, self.graph, ledger, self._history)
        self.stops = Stops() if stops is None else stops
        self.stops.bind(self.graph, len(order))
        self._reason = "before the first node"
        self._error: BaseException | None = None
        self.console = open_console(self)
        self._closed = False

    # where we are

    @property
    def length(self) -> int:
        """How many nodes the plan has."""
        return len(self._driver.order)

    @property
    def position(self) -> int:
        """The plan index of the node that runs next."""
        return self._position

    @property
    def breakpoints(self) -> tuple[Breakpoint, ...]:
        return self.stops.points

    @property
    def snapshot(self) -> Snapshot:
        """The debugger as it stands, frozen."""
        position, recorded = self._position, len(self._history)
        finished = position == self.length
        return Snapshot(
            call=self.call,
            position=position,
            recorded=recorded,
            length=self.length,
            status="failed" if self._error else "finished" if finished else "paused",
            reason=self._reason,
            graph=self.graph,
            current=None if finished else self.detail(position),
            leaves=self._inspector.leaves(position),
            pending=self._inspector.pending(position),
            breakpoints=self.breakpoints,
            bytes_recorded=self._inspector.bytes_recorded(),
            error="" if self._error is None else f"{type(self._error).__name__}: {self._error}",
        )

    def detail(self, index: int) -> NodeDetail:
        """All that is known at this position about plan node ``index``."""
        return self._inspector.detail(index, self._position)

    def leaf(self, index: int) -> LeafGradient | None:
        """The ``.grad`` of the leaf whose AccumulateGrad is node ``index``, None elsewhere."""
        return self._inspector.leaf(index, self._position)

    # moving

    def next(self, count: int = 1) -> None:
        """Run the next node, or several."""
        self.jump(min(self._position + count, self.length))

    def back(self, count: int = 1) -> None:
        """Take the last node back, or several."""
        self.jump(max(self._position - count, 0))

    def continue_(self) -> None:
        """Go on to the next stop, or to the end."""
        self._seek(self.length)

    def reverse_continue(self) -> None:
        """Go back to the stop before, or to the start."""
        self._seek(0)

    def _seek(self, end: int) -> None:
        """Go towards ``end`` until a stop is reached."""
        while self._position != end and self._travel(self._next_stop(end)):
            reached = self.stops.at(self, self._position)
            if reached is not None:
                self._reason = reached.reason
                return

    def _next_stop(self, end: int) -> int:
        """The next position towards ``end`` at which a stop is possible."""
        ahead = end > self._position
        if self.stops.conditional:
            return self._position + (1 if ahead else -1)
        positions = self.stops.positions
        if ahead:
            place = bisect_right(positions, self._position)
            return positions[place] if place < len(positions) else end
        place = bisect_left(positions, self._position)
        return positions[place - 1] if place else end

    def until(self, location: str) -> None:
        """Go on, or back, to just before the next node that ``location`` means.

        Raises:
            UnknownLocation: it means nothing in this plan.
        """
        found = locate(self.graph, location, self.length)
        ahead = [index for index in found if index > self._position]
        self._travel(ahead[0] if ahead else found[0])

    def jump(self, position: int) -> None:
        """Go to any position, forwards or back."""
        self._travel(max(0, min(position, self.length)))

    def restart(self) -> None:
        """Go back to before the first node."""
        self.jump(0)

    def _travel(self, target: int) -> bool:
        """Go to ``target``; whether nothing on the way raised."""
        while self._position > target:
            self._position -= 1
            self._error = None
            self._driver.undo(self._history[self._position])
        while self._position < target:
            try:
                self._forward()
            except Exception as error:  # a node or a hook of the user's raised: show it there
                self._error = error
                self._reason = f"node #{self._position} raised {type(error).__name__}"
                return False
        self._arrive()
        return True

    def _forward(self) -> None:
        if self._position < len(self._history):
            self._driver.redo(self._history[self._position])
        else:
            self._history.append(self._driver.execute(self._position))
        self._position += 1
        self._error = None

    def _arrive(self) -> None:
        if self._position == self.length:
            self._reason = "end of the backward pass"
        elif self._position == 0:
            self._reason = "before the first node"
        else:
            self._reason = ""

    # breakpoints

    def break_(self, location: str) -> Breakpoint:
        """Stop before each node that ``location`` means.

        Raises:
            UnknownLocation: it means nothing in this plan.
        """
        return self.stops.add(location)

    def delete(self, number: int | None = None) -> bool:
        """Delete a breakpoint, or all; whether there was one."""
        return self.stops.delete(number)

    # the end

    def finish(self) -> None:
        """Run what is left, as plain ``backward`` would have.

        Raises whatever a node or hook raises, as the plain pass does.
        """
        if self._closed:
            return
        while self._position < len(self._history):
            self._forward()
        self._driver.run(self._position)
        self._driver.release()
        self._closed = True

    def abort(self) -> None:
        """Leave every ``.grad`` as it was before the pass."""
        if not self._closed:
            self._travel(0)
            self._closed = True

    def do(self, line: str) -> Reply:
        """Carry out one command, such as ``next 10``; an empty line repeats the last one."""
        return self.console.do(line)
