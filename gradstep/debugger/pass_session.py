"""The debugger without a screen: a backward pass that you can stop, step, reverse and inspect.

A session is at a *position* in the plan. Nodes that have run are recorded. Moving within the
recording calls no code; moving past its end runs the next node.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Self, TypedDict, Unpack

from gradstep.capturing.gradients import DescribedGradients
from gradstep.capturing.names import Names, caller_names
from gradstep.capturing.roots import tensors_in
from gradstep.contract.driver import Driver, NodeEffects
from gradstep.contract.lookup import engine_of
from gradstep.debugger.beside import Beside
from gradstep.debugger.breakpoints import Breakpoints, Reached
from gradstep.debugger.displays import values_of
from gradstep.debugger.errors import StepLost
from gradstep.debugger.history import DEFAULT_BUDGET
from gradstep.debugger.history.observed_pass import described_in_parts
from gradstep.debugger.pass_stack import PassStack
from gradstep.debugger.passes.certificate import Certificate
from gradstep.debugger.passes.cursor import Cursor
from gradstep.debugger.passes.editor import Editor
from gradstep.debugger.passes.inspector import Inspector
from gradstep.debugger.passes.recorded_pass import RecordedPass
from gradstep.debugger.snapshot import (
    LeafGradient,
    LedgerEntry,
    NodeDetail,
    PassFrame,
    Phase,
    Snapshot,
    Value,
)
from gradstep.debugger.snapshot.timeline import Timeline
from gradstep.debugger.stop_search import StopSearch
from gradstep.graph.model import Graph
from gradstep.graph.statistics import Statistics
from gradstep.records import BackwardCall, CallKind, Gradients, Node, Profile, Step, Tensor


class SessionOptions(TypedDict, total=False):
    """What a session may be given, however its pass begins; explained at
    :class:`gradstep.console.session.Session`."""

    call: int
    breakpoints: Breakpoints | None
    timeline: Timeline | None
    history_bytes: int
    measured: Profile | None
    keep_graph: bool
    driver: Driver | None


class PassSession:
    """One backward pass, and the passes that start inside it: moves, looks and changes.

    The arguments are those of :class:`gradstep.console.session.Session`, which users have.
    """

    def __init__(
        self,
        roots: Tensor | Sequence[Tensor],
        gradient: Tensor | Sequence[Tensor | None] | None = None,
        *,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        names: Names | Mapping[str, Any] | None = None,
        **options: Unpack[SessionOptions],
    ) -> None:
        tensors, engine = tensors_in(roots)
        running = (engine.stepping and engine.running) or engine.cannot("step")
        backward_call = running.call(tensors, gradient, retain_graph, create_graph)
        self._begin(backward_call, _names(names), **options)

    @classmethod
    def of_call(
        cls, backward_call: BackwardCall, *, names: Names, **options: Unpack[SessionOptions]
    ) -> Self:
        """Return the session of a call of ``backward`` or ``grad`` that was intercepted."""
        session = cls.__new__(cls)
        session._begin(backward_call, names, **options)
        return session

    def _begin(
        self,
        backward_call: BackwardCall,
        names: Names,
        call: int = 1,
        breakpoints: Breakpoints | None = None,
        timeline: Timeline | None = None,
        history_bytes: int = DEFAULT_BUDGET,
        measured: Profile | None = None,
        keep_graph: bool = True,
        driver: Driver | None = None,
    ) -> None:
        self.call, self.kind = call, backward_call.kind
        self.breakpoints = Breakpoints() if breakpoints is None else breakpoints
        self.timeline = Timeline() if timeline is None else timeline
        first = RecordedPass(
            backward_call, names, history_bytes, measured, call,
            keep_graph=keep_graph, driver=driver,
        )  # fmt: skip
        self._stack = PassStack(first, self.breakpoints)
        self._search = StopSearch(self._stack, self.breakpoints)
        self._selected: int | None = None
        self._closed = False
        self.program = ""  # what a command for it is given: its TARGET, and the arguments of that
        self.ranks: Ranks | None = None
        self.beside: Beside | None = None
        self._say("before the first node")

    def __repr__(self) -> str:
        run = f"{self.position} of {self.length} nodes have run"
        hint = f"; {self._view.hint}" if self._view.hint else ""
        return f"<Session: {self._view.title}, {run}{hint}>"

    # the pass in view, and what it is composed of

    @property
    def _view(self) -> RecordedPass:
        return self._stack.view

    @property
    def cursor(self) -> Cursor:
        """The position in the pass, and its recording."""
        return self._view.cursor

    @property
    def inspector(self) -> Inspector:
        """Describes nodes, leaves and sums at this position."""
        return self._view.inspector

    @property
    def edit(self) -> Editor:
        """Changes gradients, edges and hooks at this position."""
        return self._view.edit

    @property
    def graph(self) -> Graph:
        """The backward graph; node k is plan index k."""
        return self._view.graph

    @property
    def order(self) -> Sequence[Node]:
        """The nodes of the plan, in the order in which they run."""
        return self.cursor.driver.order

    @property
    def roots(self) -> Sequence[Tensor]:
        """The tensors that the pass starts from."""
        return self._view.call.roots

    @property
    def backward_call(self) -> BackwardCall:
        """The call that started the pass."""
        return self._view.call

    @property
    def names(self) -> Names:
        """The program's variables, where it was called."""
        return self._view.names

    @property
    def steps(self) -> list[Step]:
        """The steps of the nodes that have run."""
        history = self.cursor.history
        return [history.shown(index) for index in range(self.position)]

    def described(self) -> DescribedGradients:
        """Describe the gradients of the nodes that have run: those that the recording has dropped
        are here again a few at a time."""
        history, driver = self.cursor.history, self.cursor.driver
        numbers = engine_of(self.roots).numbers
        assert numbers is not None  # else nothing runs step by step
        steps = map(history.shown, range(self.position))
        return described_in_parts(steps, driver, numbers.all_statistics)

    @property
    def effects(self) -> Mapping[int, NodeEffects]:
        """The effects of nodes that run the user's code, besides the gradients they send, by
        index."""
        return self.cursor.driver.state.effects

    @property
    def length(self) -> int:
        """The number of nodes in the plan."""
        return self.cursor.length

    @property
    def position(self) -> int:
        """The plan index of the node that runs next; another thread may read it."""
        return self.cursor.position

    # what it tells

    @property
    def snapshot(self) -> Snapshot:
        """The current state of the debugger, frozen."""
        cursor, inspector = self.cursor, self.inspector
        position, error, finished = cursor.position, cursor.error, cursor.position == cursor.length
        usage = cursor.history.usage
        return Snapshot(
            call=self.call,
            position=position,
            recorded=len(cursor.history),
            length=cursor.length,
            status="failed" if error else "finished" if finished else "paused",
            reason=self.reason,
            graph=self.graph,
            current=None if finished else inspector.detail(position),
            leaves=inspector.leaves(),
            pending=inspector.pending(),
            breakpoints=self.breakpoints.points,
            bytes_recorded=usage.bytes,
            error="" if error is None else f"{type(error).__name__}: {error}",
            usage=usage,
            phase=cursor.phase,
            edits=self.edit.records,
            frames=self.frames,
            hint=self._view.hint,
            calls=self.timeline.calls,
            kind=self.kind,
            displays=tuple(values_of(self.breakpoints.displays, inspector, self.selected)),
        )

    def module(self, behind: int = 0) -> str:
        """Name the innermost module around the node that runs next, or ``behind`` that one; "" for
        none."""
        return self._view.scopes.of(self.position - behind)

    def detail(self, index: int) -> NodeDetail:
        """Describe plan node ``index``, as far as known at this position."""
        return self.inspector.detail(index)

    def forward_value(self, index: int) -> Value | Statistics | None:
        """Return the result of the forward op of node ``index``, or the value of a leaf, if it is
        still kept; otherwise its statistics, or None if nothing is known."""
        return self.inspector.forward_value(index)

    def phases(self, index: int) -> tuple[Phase, ...]:
        """Return what has happened inside node ``index`` so far: hooks, formula, deliveries ..."""
        return self.inspector.phases(index)

    def leaf(self, index: int) -> LeafGradient | None:
        """Describe the ``.grad`` of the leaf whose AccumulateGrad is node ``index``; None for other
        nodes."""
        return self.inspector.leaf(index)

    def contributions(self, index: int, input_nr: int = 0) -> Iterator[LedgerEntry]:
        """List every contribution to one input of node ``index`` so far, and every change by the
        user, with the running sum."""
        return self.inspector.contributions(index, input_nr)

    def certificate(self) -> Certificate:
        """Call every node that has run again with the same inputs, and report any whose results are
        not bit-identical."""
        return self._view.certificate()

    def path(self, index: int) -> tuple[int, ...]:
        """Find the shortest path of the gradient from a root to node ``index``, as plan indices."""
        return self.inspector.path(index)

    def first_sender(self, index: int) -> int | None:
        """Return the first node that sends to node ``index``; None if only a seed does."""
        return self.inspector.first_sender(index)

    @property
    def reason(self) -> str:
        """The reason for the current stop."""
        return self._reason if self._said_at == self._place() else self.cursor.reason

    def _say(self, reason: str) -> None:
        self._reason, self._said_at = reason, self._place()

    def _place(self) -> tuple[RecordedPass, int, int]:
        return self._view, self.position, self.cursor.phase

    # passes inside passes

    @property
    def frames(self) -> tuple[PassFrame, ...]:
        """The nested passes that are open, outermost first; the last one is in view."""
        return self._stack.frames

    def nested(self, index: int) -> int:
        """Count the passes that were started inside node ``index``."""
        return len(self._view.nested(index))

    def enter(self, index: int, number: int = 0) -> bool:
        """View a pass that was started inside node ``index``; False if there is none."""
        entered = self._stack.enter(index, number)
        if entered:
            self._say(self.cursor.reason)
        return entered

    def leave(self) -> bool:
        """Return to the pass around this one; False if there is none."""
        left = self._stack.leave()
        if left:
            self._say(self.cursor.reason)
        return left

    # moving: each of these ends at a stop on the way; only a jump passes it

    def stops_here(self) -> bool:
        """Ask the breakpoints at this position, as a move that led here would; whether one is
        hit."""
        return self._seek(self._search.here) is not None

    def next(self, count: int = 1) -> None:
        """Run the next node, or several."""
        self._go(self.position + count)

    def back(self, count: int = 1) -> None:
        """Undo the last node, or several. Inside a node, the first one undone is that node."""
        self._go(self.position - count + (self.cursor.phase > 0))

    def step(self, count: int = 1) -> None:
        """Run the next phase of a node: a hook, the formula, one delivery ..."""
        self._seek(lambda: self._search.step(count))

    def step_back(self, count: int = 1) -> None:
        """Go back by one phase."""
        self._seek(lambda: self._search.step_back(count))

    def over(self, count: int = 1) -> None:
        """Run the module that begins here, or one node."""
        self._repeat(count, self._view.scopes.over, self.length)

    def back_over(self, count: int = 1) -> None:
        """Go back before the module that ends here, or by one node."""
        self._repeat(count, self._view.scopes.back_over, 0)

    def out(self, count: int = 1) -> None:
        """Run to the end of the module around this node."""
        self._repeat(count, self._view.scopes.out, self.length)

    def back_out(self, count: int = 1) -> None:
        """Go back before the module around the previous node."""
        self._repeat(count, self._view.scopes.back_out, 0)

    def _repeat(self, count: int, target: Callable[[int], int], end: int) -> None:
        """Go to the ``target`` of where we are, ``count`` times or until ``end``."""
        while count and self.position != end and self._go(target(self.position)):
            count -= 1

    def until(self, location: str, count: int = 1) -> None:
        """Go to just before the next node at ``location``, forward or back.

        Raises:
            UnknownAddress: there is no such place in this plan.
        """
        indices = self.breakpoints.locate(location)
        ahead = [index for index in indices if index > self.position]
        self._go(ahead[min(count, len(ahead)) - 1] if ahead else indices[0])

    def jump(self, position: int) -> None:
        """Go to any position, forwards or back, past every stop."""
        with self._moving() as cursor:
            cursor.travel(self._within(position))

    def restart(self) -> None:
        """Go back to before the first node, past every stop."""
        self.jump(0)

    def continue_(self) -> None:
        """Run to the next stop or the end. At the end of a nested pass, continue in the outer
        one."""
        if self._search.at_end:
            self.leave()
        self._seek(self._search.ahead)

    def reverse_continue(self) -> None:
        """Go back to the previous stop or the start. At the start of a nested pass, continue in the
        outer one."""
        if self.position == 0 and not self.cursor.phase and len(self._stack) > 1:
            inside = self._view.inside
            self.leave()
            self.jump(inside)  # behind that node, the way back leads into it again
            if reached := self._search.here():
                self._say(reached.reason)
                return
        self._seek(self._search.back)

    def _within(self, position: int) -> int:
        return max(0, min(position, self.length))

    def _go(self, position: int) -> bool:
        """Go to ``position``, or to a stop on the way; whether it was reached, and is none."""
        view, target = self._view, self._within(position)
        reached = self._seek(lambda: self._search.go(target))
        return reached is None and self._view is view and self.position == target

    def _seek(self, search: Callable[[], Reached | None]) -> Reached | None:
        with self._moving():
            reached = search()
        if reached is not None:
            self._say(reached.reason)
        return reached

    @contextmanager
    def _moving(self) -> Iterator[Cursor]:
        """Move inside; afterwards, say where that led."""
        cursor = self.cursor
        cursor.interrupted = False
        self.breakpoints.take_reached()
        yield cursor
        if self.beside is not None:
            self.beside.follow(self.position)
        self._say(self.cursor.reason)
        cursor.interrupted = False

    def interrupt(self) -> None:
        """Stop before the next node. Another thread may call this."""
        self.cursor.interrupted = True

    # the end

    def host(self, body: Callable[[], Any]) -> Any:
        """Run ``body``, which moves the session, while this thread is at the service of the engine:
        PyTorch's runs where the program called it.  Without this it has a thread of its own."""
        control = self._view.driver.control
        return body() if control is None else control.host(body)

    def finish(self) -> None:
        """Run the rest of the pass, as plain ``backward`` would.

        An exception of a node or hook is raised, as in a plain pass.
        """
        if not self._closed:
            self._leave_all()
            self._view.run_out()
            self._close()
            self.timeline.add(self._view.record())

    @property
    def gradients(self) -> Gradients:
        """The result of a call of ``grad``, after :meth:`finish`."""
        return self._view.driver.gradients()

    def abort(self) -> None:
        """Restore every ``.grad`` to its value before the pass."""
        if not self._closed:
            self._leave_all()
            with suppress(StepLost):  # what follows needs none
                self.restart()
            self._view.driver.undoing.undo_all()
            self._view.close()
            self._close()

    def _close(self) -> None:
        self._closed = True
        self.cursor.end()

    def _leave_all(self) -> None:
        while self.leave():
            pass

    # the command language

    @property
    def selected(self) -> int | None:
        """The node that inspecting commands refer to; None at the end of the pass."""
        if self._selected is not None:
            return self._selected
        return self.position if self.position < self.length else None

    def select(self, index: int | None) -> None:
        """Select node ``index`` for inspecting commands until a command moves; None selects the
        node that runs next."""
        self._selected = index


def _names(given: Names | Mapping[str, Any] | None) -> Names:
    if given is None:
        return caller_names()
    return given if isinstance(given, Names) else Names(given)


@dataclass
class Ranks:
    """The numbers of the processes; ``current`` is that of the session, ``wanted`` the one to go on
    with, at ``call`` where that is to be another one."""

    numbers: Sequence[int]
    current: int
    wanted: int
    call: tuple[CallKind, int] | None = None

    def __str__(self) -> str:
        others = ", ".join(str(number) for number in self.numbers if number != self.current)
        return f"rank {self.current}; the others are {others or 'none'}"
