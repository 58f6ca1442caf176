"""A backward pass that is run to be looked at: its graph with the gradients that flowed so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Self

from gradstep.capturing import View, capture
from gradstep.capturing.gradients import Describe, DescribedGradients, changes_of
from gradstep.capturing.names import Names
from gradstep.contract.driver import Driver, NodeEffects
from gradstep.contract.lookup import engine_of_call, stepping_of
from gradstep.graph.model import Graph
from gradstep.records import BackwardCall, Gradients, Node, Plan, Step


def graph_of_call(
    call: BackwardCall,
    view: View,
    names: Names,
    steps: Sequence[Step] | DescribedGradients,
    order: Sequence[Node],
    effects: Mapping[int, NodeEffects],
    title: str = "",
    *,
    plan: Plan | None = None,
    lazy: bool = False,
) -> Graph:
    """Return the graph of what ``call`` runs, with the gradients of ``steps``, and with what hooks
    made of them, as ``effects`` tells; ``plan`` is that of the whole graph, if it is known."""
    seeds = stepping_of(call).seeds(call)
    indices = steps if isinstance(steps, DescribedGradients) else [step.index for step in steps]
    known = {index: effects[index].calls for index in indices if index in effects}
    hooks = {index: changes_of(calls) for index, calls in known.items() if calls}
    return capture(
        call.roots, view, gradient=seeds, names=names, steps=steps, hooks=hooks, plan=plan,
        order=order, title=title, lazy=lazy,
    )  # fmt: skip


def described_in_parts(
    steps: Iterable[Step], driver: Driver, describe: Describe
) -> DescribedGradients:
    """Describe the gradients of ``steps``, and hold some of these at a time."""
    described = DescribedGradients()
    part: list[Step] = []
    held = 0
    for step in steps:
        part.append(step)
        held += driver.step_bytes(step)
        if held > _HELD:
            described.add(part, describe)
            part, held = [], 0
    described.add(part, describe)
    return described


_HELD: Final = 1 << 24
"""Bytes of steps that wait to be described together."""
_KEPT: Final = 1 << 20
"""Bytes of steps that are kept when their pass is over, as nobody may ever ask for its graph."""


class ObservedPass:
    """Runs ``call`` node by node; as a context manager it undoes what it did, so that every
    ``.grad`` is as it was and nothing has been freed.

    With ``drops`` it runs once, and keeps no more than some steps at a time: the gradients of the
    others are described, and cannot be undone.  A ``driver`` that is given tells of the call, which
    has run.
    """

    def __init__(
        self,
        call: BackwardCall,
        names: Names,
        *,
        drops: bool = False,
        driver: Driver | None = None,
    ) -> None:
        self._names = names
        self._engine = engine_of_call(call)
        self._numbers = self._engine.numbers or self._engine.cannot("describe gradients")
        self._driver = stepping_of(call).driver(call) if driver is None else driver
        self._steps: list[Step] = []
        self._drops = drops
        self._described = DescribedGradients()  # of the steps that were dropped
        self._held = 0  # bytes of the others

    @property
    def order(self) -> Sequence[Node]:
        """The nodes in the order in which they run."""
        order: Sequence[Node] = self._driver.order
        return order

    def run(self, stop: int | None = None) -> None:
        """Run the nodes up to ``stop``, not including it; None is the end.

        Raises:
            Exception: whatever a node or a hook raised.
        """
        end = len(self.order) if stop is None else stop
        engine = self._engine
        measured = engine.profiling.measuring() if engine.profiling else None
        if self._drops:
            self._driver.only_forward()
        if measured is not None and self._driver.control is not None:
            self._driver.control.measure()

        def keep(step: Step, seconds: float) -> bool:
            self._steps.append(step)
            if measured is not None:
                sent = [
                    delivery.gradient
                    for delivery in step.deliveries
                    if delivery.gradient is not None
                ]
                extents = [engine.reading.extent(gradient) for gradient in sent]
                nbytes = sum(extent.nbytes for extent in extents if extent is not None)
                measured(step.node, seconds, nbytes)
            if self._drops:
                self._held += self._driver.step_bytes(step)
                if self._held > _HELD:
                    self.describe()
            return True

        self._driver.record(len(self._steps), end, keep)
        if stop is None:
            self._driver.run(end)  # what is raised behind the last node

    @property
    def steps(self) -> list[Step]:
        """The steps of the nodes that have run, and were not dropped."""
        return list(map(self._driver.undoing.step_when_run, self._steps))

    def describe(self) -> None:
        """Describe the gradients of the steps so far, and drop these."""
        self._describe(self._numbers.all_statistics)

    def _describe(self, describe: Describe) -> bool:
        if not self._described.add(self.steps, describe):
            return False
        self._steps, self._held = [], 0
        return True

    def settle(self) -> bool:
        """Keep what :meth:`graph` shows, of a pass that has run to its end, as it is now, so that
        the graph can be made later, or never; returns whether that can be done.

        Few bytes are kept besides: gradients that take more are described at once."""
        if self._held > _KEPT:
            self.describe()
        control = self._driver.control
        if control is None or not self._describe(control.settle):
            return False
        self._names.settle()
        return True

    def graph(self, view: View, title: str = "", *, lazy: bool = False) -> Graph:
        """Return the graph as it now stands, or as it did when it settled; a ``lazy`` one is to be
        read before anything else runs."""
        if self._drops:
            self.describe()
        call = self._driver.call
        plan = None if call.inputs else self._driver.plan  # else it may be a part
        return graph_of_call(
            call, view, self._names, self._described if self._drops else self.steps,
            self.order, self._driver.state.effects, title, plan=plan, lazy=lazy,
        )  # fmt: skip

    @property
    def gradients(self) -> Gradients:
        """The gradients that a call of ``grad``, of which all has run, returns to the program."""
        gradients: Gradients = self._driver.gradients()
        return gradients

    def forget(self) -> None:
        """Keep no steps: they cannot be undone any more, nor told."""
        self._steps, self._described = [], DescribedGradients()

    def drop_trace(self) -> None:
        """Let go of what was traced before the pass, which is the last one that is looked at."""
        if self._engine.tracing is not None:
            self._engine.tracing.drop_trace(self.order)

    def undo(self) -> None:
        """Undo all that has run."""
        while self._steps:
            self._driver.undoing.undo(self._steps.pop())
        self._driver.undoing.undo_all()

    def release(self) -> None:
        """Let go of the saved values, as the call itself would have."""
        self._driver.release(len(self.order))

    def __enter__(self) -> Self:
        if self._driver.control is not None:
            self._driver.control.retain_graph()
        return self

    def __exit__(self, *error: object) -> None:
        self.undo()
