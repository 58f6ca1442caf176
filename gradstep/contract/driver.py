"""The protocol between a session and whoever runs the nodes of a backward pass.

A driver executes plan nodes one by one and can undo them; it knows nothing of
positions, breakpoints or screens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, NamedTuple, Protocol, Self

from numpy.typing import NDArray

from gradstep.graph.statistics_table import StatisticsTable
from gradstep.records import PORT, BackwardCall, Gradients, HookCall, Interceptor, Place, Plan, Step

Pending = dict[Place, Any]
OnStep = Callable[[Step, float], bool]
OnSkipped = Callable[[int], bool]
"""Receives the number of nodes that ran without a Step; returns False to halt the pass."""


def collecting(steps: list[Step]) -> OnStep:
    """Return an :data:`OnStep` that appends each Step to ``steps``."""

    def collect(step: Step, seconds: float) -> bool:
        steps.append(step)
        return True

    return collect


class DeferredSteps(NamedTuple):
    """Callbacks for Steps that are made on demand: ``ran`` receives the number of nodes that have
    run and the most bytes that they keep, and answers as :data:`OnSkipped` does; ``on_step``
    receives the Steps."""

    ran: Callable[[int, int], bool]
    on_step: OnStep


STEP_BYTES: Final = 600  # of the objects that make a step, beside its gradients


class Nested(Protocol):
    """A pass that ran inside a node of another one."""

    @property
    def title(self) -> str:
        """The call as the program wrote it: ``inner.backward()``."""
        ...


class NodeEffects(NamedTuple):
    """The effects of a node besides the gradients it sends.

    Attributes:
        start, stop: the places in the undo log before and after it.
        nbytes: what its entries there keep.
        calls: those of its hooks.
        nested: the passes that ran inside it.
        user_code: whether it ran user code.
        gradients: the ``.grad`` of leaves that this code changed, by plan index: copies, or None.
    """

    start: int
    stop: int
    nbytes: int = 0
    calls: tuple[HookCall, ...] = ()
    nested: tuple[Nested, ...] = ()
    user_code: bool = False
    gradients: tuple[tuple[int, Any], ...] = ()


class Replay(Protocol):
    """A pass that continues independently, with nodes that run no user code; it changes nothing of
    the program."""

    pending: Pending

    def record(self, start: int, stop: int, on_step: OnStep) -> None:
        """Run plan nodes, as :meth:`Driver.record`."""
        ...

    def redo(self, step: Step) -> None:
        """Do what ``step`` did, from its record."""
        ...


class HasRun(NamedTuple):
    """A call that has run, of which a session is to tell, by its ``driver``."""

    driver: Driver


class CannotRunAgain(Exception):
    """A second run of a pass ends: to go on would do once more what cannot be undone."""


class PassState(Protocol):
    """What a pass holds, and what its nodes did beside sending gradients."""

    intercept: Interceptor | None
    """Decides about backward calls that nodes make."""
    read_only: str
    """Why this pass can be looked at, not changed; "" if it can be changed.  Going back and forth
    in one that cannot leaves the program's state alone."""

    @property
    def pending(self) -> Pending:
        """The pending sums, by place."""
        ...

    @property
    def effects(self) -> dict[int, NodeEffects]:
        """By plan index, the effects of nodes that may do more than send gradients."""
        ...

    @property
    def changed_gradients(self) -> dict[int, dict[int, Any]]:
        """By leaf, and by node, both plan indices: the ``.grad`` of the leaf as user code at the
        node left it, if that changed it."""
        ...

    @property
    def changed_pending(self) -> dict[int, tuple[tuple[Place, Any], ...]]:
        """By node, the pending sums of other nodes that user code at it changed in place."""
        ...

    @property
    def nested(self) -> list[Nested]:
        """The passes that ran inside the node that runs."""
        ...

    @property
    def failed_in(self) -> str:
        """The hook that raised last."""
        ...

    @property
    def disturbances(self) -> int:
        """How often memory was changed in place that gradients may share."""
        ...

    @property
    def restore_note(self) -> str:
        """What is put back of what user code changed, before it runs again, and what is not."""
        ...

    def places(self, node: Any) -> Sequence[Place]:
        """Return the input buffers of ``node``."""
        ...

    def entering_seeds(self) -> Sequence[Any]:
        """Return the gradients of the roots that take part in the pass, in their order."""
        ...


class Undoing(Protocol):
    """Going back and forth over nodes that have run."""

    def undo(self, step: Step) -> None:
        """Put everything back to what it was before ``step``, which was the last one."""
        ...

    def redo(self, step: Step) -> None:
        """Do what ``step`` did, from its record, calling no user code."""
        ...

    def redo_state(self, step: Step) -> None:
        """Do to the program's state what ``step`` did, but not to the pending sums."""
        ...

    def undo_all(self) -> None:
        """Undo what the nodes that have run did to the program's state; leave the sums alone."""
        ...

    def forget(self, start: int) -> None:
        """Forget what nodes from ``start`` on did; they were undone."""
        ...

    def state_before(self, start: int) -> AbstractContextManager[None]:
        """Restore the program's state as it was before node ``start`` ran, for a while."""
        ...

    def step_when_run(self, step: Step) -> Step:
        """Return ``step``, with copies of those of its gradients that user code has changed in
        place since."""
        ...

    def entered(self, seed: Any) -> Any:
        """Return a gradient that entered, as it was then."""
        ...

    @property
    def program_stays(self) -> bool:
        """Whether going back leaves the program's state as it is where the pass has halted."""
        ...


class LeafGradients(Protocol):
    """The gradients of leaves, and how gradients are compared and read."""

    def grad(self, index: int) -> Any:
        """Return the ``.grad`` of the leaf at node ``index``, as it is in the program now."""
        ...

    def grad_before(self, index: int) -> Any:
        """Return the same before the pass: nothing changes it."""
        ...

    def added(self, index: int) -> Any:
        """Return what the leaf at node ``index``, of which a Step is due or is not needed for that,
        had added, after hooks: its ``.grad`` where that is it; None where only its Step tells."""
        ...

    def summed_up(self, step: Step) -> Any:
        """Return what the ``.grad`` of a leaf is by the record of its node: what it was before, and
        what arrived; what it became, where a hook changed that or the record cannot tell."""
        ...

    def unreduced(self, step: Step) -> Sequence[Any] | None:
        """Return what the rule of a node made before it was summed to the shapes of the inputs;
        None where that is the same, or cannot be told."""
        ...

    def numbers(self, gradient: Any) -> NDArray[Any]:
        """Return the numbers of a gradient."""
        ...

    def agree(self, one: Any, other: Any) -> bool:
        """Return whether two gradients agree bit for bit."""
        ...


class Rerunning(Protocol):
    """Another way on from where the pass stands: nodes run again, with what the user changes."""

    muted_edges: set[tuple[int, int]]
    """Edges along which nothing is sent, by node and output."""
    muted_hooks: set[tuple[int, int]]
    """Hooks that are not called, by node and id."""

    def set_grad(self, index: int, gradient: Any) -> None:
        """Replace the ``.grad`` of the leaf at node ``index``."""
        ...

    def gradient(self, array: NDArray[Any], index: int, input_nr: int, *, grad: bool) -> Any:
        """Return a gradient of these numbers, for an input of node ``index``, or, with ``grad``,
        for its leaf."""
        ...

    def fork(self, pending: Pending) -> Replay:
        """Return an independent pass from ``pending`` on, within :meth:`Undoing.state_before`."""
        ...

    def replays(self, index: int) -> bool:
        """Return whether node ``index``, which has run, can run again in a fork."""
        ...

    def repeat(self, step: Step) -> Sequence[Any] | None:
        """Return what the node of ``step`` sends when it is called alone, with what it was given,
        within :meth:`repeating`; None where it cannot be, or only adds to a ``.grad``."""
        ...

    def repeating(self) -> AbstractContextManager[None]:
        """Allow :meth:`repeat` for a while."""
        ...

    def restarted(self, pending: Pending) -> Driver:
        """Return a driver that reruns everything from ``pending``, user code too, without edits."""
        ...

    def why_not_replayable(self, start: int) -> str:
        """Return why nodes from ``start`` on, which have run, cannot run again; "" if they can."""
        ...

    def why_not_restartable(self, start: int) -> str:
        """Return why no second pass can run from ``start`` on, as :meth:`restarted` returns one; ""
        if one can."""
        ...


class EngineControl(Protocol):
    """An engine of the library's own that runs the pass, and is halted."""

    def host(self, body: Callable[[], Any]) -> Any:
        """Run ``body``, which drives the pass, while the engine may use this thread; returns what
        ``body`` returns."""
        ...

    def halt_within(self, nbytes: int) -> None:
        """Run on no farther at a time than the gradients of the nodes take about these bytes."""
        ...

    def measure(self) -> None:
        """Have the seconds of each Step be those that its node takes, on a device the device's
        own; this costs a little at each node."""
        ...

    def settle(self, gradients: Sequence[Any]) -> Callable[[], StatisticsTable] | None:
        """Keep what a graph of the pass, which is over, shows of the program as it is now, so that
        the graph can be made later; ``gradients`` are those of its Steps.

        Returns:
            What describes them as they are now; None where a graph can only be made at once.
        """
        ...

    def catch_up(self) -> None:
        """Make the Steps that were deferred."""
        ...

    def in_engine_thread(self, work: Callable[[], None], *, halted: bool = True) -> None:
        """Do ``work`` where the engine runs, or has run, in the state of the program's thread; with
        ``halted``, inside a hook in which it is halted, too."""
        ...

    def retain_graph(self) -> None:
        """Keep what nodes saved, whatever the call says: what runs is to be undone."""
        ...

    def kept_bytes(self) -> int:
        """Return the bytes of saved values that are kept though the program's call would have freed
        them by now, each memory once."""
        ...

    def close(self) -> None:
        """End what waits for the pass to continue: it is over."""
        ...


class Driver(Protocol):
    """Runs, records, undoes and redoes the nodes of one backward pass."""

    @property
    def state(self) -> PassState:
        """What the pass holds."""
        ...

    @property
    def undoing(self) -> Undoing:
        """What goes back and forth."""
        ...

    @property
    def leaves(self) -> LeafGradients:
        """The gradients of leaves."""
        ...

    @property
    def rerunning(self) -> Rerunning | None:
        """What runs nodes again, None of a pass that can only be looked at."""
        ...

    @property
    def control(self) -> EngineControl | None:
        """What holds the engine that runs the pass, None where nodes run when they are recorded."""
        ...

    @property
    def call(self) -> BackwardCall:
        """The call that is carried out."""
        ...

    @property
    def order(self) -> Sequence[Any]:
        """The nodes that run, in their order."""
        ...

    @property
    def plan(self) -> Plan:
        """The plan of the whole graph, of which not all may run."""
        ...

    def record(
        self,
        start: int,
        stop: int,
        on_step: OnStep,
        on_skipped: OnSkipped | None = None,
        deferred: DeferredSteps | None = None,
    ) -> None:
        """Run plan nodes from ``start`` on, handing each Step and its seconds to ``on_step``, to
        ``stop`` or until that returns False.

        With ``on_skipped``, nodes that can run again in a fork may run as in a plain pass: it
        receives their number instead, some at a time.  With ``deferred``, the Steps may be made
        when something is read that depends on them."""
        ...

    def run(self, start: int) -> None:
        """Run everything from plan node ``start`` on, keeping no record."""
        ...

    def only_forward(self) -> None:
        """Leave what a node did that raises, as a plain pass does, and hand out steps while the
        pass runs, where their gradients would take much memory until it ends: nobody will go
        back."""
        ...

    def gradients(self) -> Gradients:
        """Return what the call gives to the program: of ``grad``, the gradients."""
        ...

    def release(self, stop: int | None = None) -> None:
        """Let go of what nodes up to ``stop``, where one has raised, have saved, as the plain
        pass would have."""
        ...

    def inner_passes(self) -> Iterable[Nested]:
        """Return the passes that ran inside nodes."""
        ...

    def runs_user_code(self, index: int) -> bool:
        """Return whether node ``index`` is known to run user code."""
        ...

    def step_bytes(self, step: Step) -> int:
        """Return the bytes that a step keeps alive, as far as no step before it does."""
        ...


class BasicDriver:
    """What drivers do alike: one object is all parts, Steps are made when nodes run, and going back
    is a matter of sums."""

    failed_in = ""
    disturbances = 0

    def __init__(self) -> None:
        self.muted_edges: set[tuple[int, int]] = set()
        self.muted_hooks: set[tuple[int, int]] = set()
        self.changed_gradients: dict[int, dict[int, Any]] = {}
        self.changed_pending: dict[int, tuple[tuple[Place, Any], ...]] = {}

    # properties, as an attribute would be a cycle, which keeps the graph alive

    @property
    def state(self) -> Self:
        return self

    @property
    def undoing(self) -> Self:
        return self

    @property
    def leaves(self) -> Self:
        return self

    @property
    def control(self) -> EngineControl | None:
        return None

    @property
    def program_stays(self) -> bool:
        return False

    def inner_passes(self: PassState) -> Iterable[Nested]:
        """Return the passes that ran inside nodes."""
        return [inner for effects in self.effects.values() for inner in effects.nested]

    def undo(self: PassState, step: Step) -> None:
        """Give the pending sums what they were before ``step``."""
        undo_deliveries(self.pending, step)
        self.pending.update(taken_by(step, self.places))

    def redo(self: PassState, step: Step) -> None:
        """Give the pending sums what ``step`` made of them."""
        self.pending.update(dict.fromkeys(place for place, _ in taken_by(step, self.places)))
        self.pending.update(self.changed_pending.get(step.index, ()))
        for delivery in step.deliveries:
            if delivery.edge is not None:
                self.pending[delivery.edge] = delivery.after

    def redo_state(self, step: Step) -> None:
        return  # it is in the sums alone

    def state_before(self, start: int) -> AbstractContextManager[None]:
        return nullcontext()

    def step_when_run(self, step: Step) -> Step:
        return step

    def entered(self, seed: Any) -> Any:
        return seed

    def added(self, index: int) -> Any:
        return None

    def summed_up(self, step: Step) -> Any:
        return step.after

    def unreduced(self, step: Step) -> Sequence[Any] | None:
        return None


def taken_by(step: Step, places: Callable[[Any], Sequence[Place]]) -> list[tuple[Place, Any]]:
    """Return the input buffers that ``step`` emptied, and what each held."""
    return [
        (place, step.incoming[place.nr if place.kind == PORT else 0]) for place in places(step.node)
    ]


def undo_deliveries(pending: Pending, step: Step) -> None:
    """Take back what ``step`` has added to the pending sums."""
    for delivery in reversed(step.deliveries):
        if delivery.edge is not None:
            pending[delivery.edge] = delivery.before
