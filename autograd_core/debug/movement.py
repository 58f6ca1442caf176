"""How a session gets from one position to another, and from one pass to another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from autograd_core.autograd.call import BackwardCall
from autograd_core.autograd.node import Node
from autograd_core.autograd.step import Step
from autograd_core.dag.addresses import locate, step_number
from autograd_core.dag.names import Names
from autograd_core.debug.breakpoints import Breakpoints
from autograd_core.debug.history.driver_protocol import NodeEffects
from autograd_core.debug.passes.cursor import Cursor
from autograd_core.debug.passes.recorded_pass import RecordedPass
from autograd_core.debug.snapshot import (
    Frame,
    Incoming,
    LeafGradient,
    NodeDetail,
    Outgoing,
    Phase,
    Value,
)
from autograd_core.tensor import Tensor


class Movement:
    """Moves in a pass, and in those that were started inside it.

    Attributes:
        call: which call of the program this is, from 1 on; those of ``backward`` and of ``grad``
            are counted apart.
        kind: which of the two it is.
        breakpoints: where to stop.
        graph: the backward graph of the pass in view; node k is plan index k.
        edit: changes gradients, edges and hooks of that pass; see :class:`Editor`.
    """

    def __init__(self, first: RecordedPass, call: int, breakpoints: Breakpoints) -> None:
        self.call = call
        self.kind = first.call.kind
        self.breakpoints = breakpoints
        self._passes: list[RecordedPass] = []
        self._enter(first)
        self._say("before the first node")

    def _enter(self, one: RecordedPass) -> None:
        self._passes.append(one)
        self._look_at_last()

    def _look_at_last(self) -> None:
        self.graph, self.edit = self._pass.graph, self._pass.edit
        self.breakpoints.bind(self.graph, self.length, self._pass.places, self._pass.run_user_code)
        self._say(self._where())

    # where we are

    @property
    def _pass(self) -> RecordedPass:
        return self._passes[-1]

    @property
    def _cursor(self) -> Cursor:
        return self._pass.cursor

    @property
    def order(self) -> Sequence[Node]:
        """The nodes of the plan, in the order in which they run."""
        return self._cursor.driver.order

    @property
    def roots(self) -> Sequence[Tensor]:
        """What the pass in view was called on."""
        return self._pass.call.roots

    @property
    def backward_call(self) -> BackwardCall:
        """The call that started the pass in view."""
        return self._pass.call

    @property
    def steps(self) -> list[Step]:
        """What the nodes of the pass in view did, up to here."""
        history = self._cursor.history
        return [history[index] for index in range(self._cursor.position)]

    @property
    def effects(self) -> Mapping[int, NodeEffects]:
        """What nodes that run code of the user's did besides sending gradients, by index."""
        return self._cursor.driver.effects

    @property
    def names(self) -> Names:
        """The program's variables, where it was called."""
        return self._pass.names

    @property
    def length(self) -> int:
        """How many nodes the plan has."""
        return self._cursor.length

    @property
    def position(self) -> int:
        """The plan index of the node that runs next."""
        return self._cursor.position

    def detail(self, index: int) -> NodeDetail:
        """All that is known at this position about plan node ``index``."""
        return self._pass.inspector.detail(index)

    def incoming(self, index: int) -> tuple[Incoming, ...]:
        """What has arrived at node ``index``; the part of :meth:`detail` that is quickly told."""
        return self._pass.ledger.incoming(index, self._cursor.state)

    def outgoing(self, index: int) -> tuple[Outgoing, ...]:
        """What node ``index`` has sent; see :meth:`incoming`."""
        return self._pass.ledger.outgoing(index, self._cursor.state)

    def leaf(self, index: int) -> LeafGradient | None:
        """The ``.grad`` of the leaf whose AccumulateGrad is node ``index``, None elsewhere."""
        return self._pass.inspector.leaf(index)

    def phases(self, index: int) -> tuple[Phase, ...]:
        """What has happened inside node ``index`` so far: hooks, formula, deliveries ..."""
        return self._pass.inspector.phases(index)

    def change(self, index: int, position: int) -> tuple[Value | None, Value | None] | None:
        """What the node before ``position`` made of the ``.grad`` of the leaf whose AccumulateGrad
        is node ``index``: the old one and the new one; None if it left it alone."""
        return self._pass.inspector.change(index, position)

    # passes inside passes

    @property
    def frames(self) -> tuple[Frame, ...]:
        """The passes that are open inside each other, the outermost first; the last is in view."""
        return tuple(
            Frame(
                depth,
                each.title,
                each.cursor.position,
                each.cursor.length,
                "" if each.call.parent is None else each.call.parent.name(),
                each is self._pass,
            )
            for depth, each in enumerate(self._passes)
        )

    def nested(self, index: int) -> int:
        """How many passes were started inside node ``index``."""
        return len(self._pass.nested(index))

    def enter(self, index: int, number: int = 0) -> bool:
        """Look at a pass that was started inside node ``index``; whether there is one."""
        found = self._pass.nested(index)
        if number >= len(found):
            return False
        found[number].inside = index
        self._enter(found[number])
        return True

    def leave(self) -> bool:
        """Look at the pass around this one again; whether there is one."""
        if len(self._passes) == 1:
            return False
        self._passes.pop()
        self._look_at_last()
        return True

    def _leave_all(self) -> None:
        while self.leave():
            pass

    # moving

    def next(self, count: int = 1) -> None:
        """Run the next node, or several."""
        self._go(self.position + count)

    def back(self, count: int = 1) -> None:
        """Take the last node back, or several; inside a node, the first is what it has done."""
        self._go(self.position - count + (self._cursor.phase > 0))

    def step(self, count: int = 1) -> None:
        """Go on by a phase of a node: a hook, the formula, one delivery ..."""
        with self._moving():
            while count and not self._cursor.interrupted and self._cursor.step():
                count -= 1

    def step_back(self, count: int = 1) -> None:
        """Go back by a phase."""
        with self._moving():
            while count and not self._cursor.interrupted and self._cursor.step_back():
                count -= 1

    def over(self, count: int = 1) -> None:
        """Go on behind the module that begins here, or by one node."""
        self._repeat(count, self._pass.scopes.over, self.length)

    def back_over(self, count: int = 1) -> None:
        """Go back before the module that ends here, or by one node."""
        self._repeat(count, self._pass.scopes.back_over, 0)

    def out(self, count: int = 1) -> None:
        """Go on behind the module around this node."""
        self._repeat(count, self._pass.scopes.out, self.length)

    def back_out(self, count: int = 1) -> None:
        """Go back before the module around the node before."""
        self._repeat(count, self._pass.scopes.back_out, 0)

    def _repeat(self, count: int, target: Callable[[int], int], end: int) -> None:
        """Go to the ``target`` of where we are, ``count`` times or until ``end``; without trying a
        node again that raises."""
        while count and (before := self.position) != end:
            self._go(target(before))
            count = count - 1 if self.position != before else 0

    def until(self, location: str, count: int = 1) -> None:
        """Go on, or back, to just before the next node that ``location`` means.

        Raises:
            UnknownAddress: it means nothing in this plan.
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

    def interrupt(self) -> None:
        """From another thread: stop before the next node."""
        self._cursor.interrupted = True

    def take_interrupt(self) -> bool:
        """Whether something that does not move was asked to stop; this answers the call."""
        asked, self._cursor.interrupted = self._cursor.interrupted, False
        return asked

    def _go(self, position: int) -> None:
        with self._moving():
            self._cursor.travel(max(0, min(position, self.length)))

    @contextmanager
    def _moving(self) -> Iterator[None]:
        """Move inside; afterwards, say where that led."""
        cursor = self._cursor
        cursor.interrupted = False
        yield
        self._say(self._where())
        cursor.interrupted = False

    @property
    def reason(self) -> str:
        """Why it stands here; where a change was taken back, only where that is."""
        return self._reason if self._said_at == self._place() else self._where()

    def _say(self, reason: str) -> None:
        self._reason, self._said_at = reason, self._place()

    def _place(self) -> tuple[RecordedPass, int, int]:
        return self._pass, self._cursor.position, self._cursor.phase

    def _where(self) -> str:
        cursor = self._cursor
        if cursor.error is not None:
            cause = f", in its {cursor.driver.failed_in}," if cursor.driver.failed_in else ""
            return (
                f"node {step_number(cursor.position)}{cause} raised {type(cursor.error).__name__}"
            )
        if cursor.interrupted:
            return "interrupted"
        if cursor.position == cursor.length:
            return "end of the backward pass"
        if cursor.phase:
            return cursor.phases[cursor.phase - 1].text
        return "" if cursor.position else "before the first node"
