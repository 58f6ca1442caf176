"""A backward pass that is run to be looked at: its graph with the gradients that flowed so far."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Final, Self

from gradstep.capturing import View, capture
from gradstep.capturing.gradients import UNKNOWN, changes_of
from gradstep.capturing.names import Names
from gradstep.engines.driver import NodeEffects
from gradstep.engines.lookup import engine_of_call
from gradstep.graph.model import Graph
from gradstep.graph.statistics_table import StatisticsTable
from gradstep.records import BackwardCall, Delivery, Gradients, Node, Plan, Step


def graph_of_call(
    call: BackwardCall,
    view: View,
    names: Names,
    steps: Sequence[Step],
    order: Sequence[Node],
    effects: Mapping[int, NodeEffects],
    title: str = "",
    *,
    plan: Plan | None = None,
    lazy: bool = False,
) -> Graph:
    """Return the graph of what ``call`` runs, with the gradients of ``steps``, and with what hooks
    made of them, as ``effects`` tells; ``plan`` is that of the whole graph, if it is known."""
    seeds = engine_of_call(call).seeds(call)
    known = {step.index: effects[step.index].calls for step in steps if step.index in effects}
    hooks = {index: changes_of(calls) for index, calls in known.items() if calls}
    return capture(
        call.roots, view, gradient=seeds, names=names, steps=steps, hooks=hooks, plan=plan,
        order=order, title=title, lazy=lazy,
    )  # fmt: skip


_HELD: Final = 1 << 26
"""Bytes of steps that wait to be described together."""
_KEPT: Final = 1 << 20
"""Bytes of steps that are kept when their pass is over, as nobody may ever ask for its graph."""


def _gradients_of(step: Step) -> Iterator[Any]:
    yield from (*step.incoming, *step.hooked, step.before, step.after)
    for _, _, gradient, before, after in step.deliveries:
        yield from (gradient, before, after)
    yield from (gradient for _, gradient in step.captured)


def _with(step: Step, known: Mapping[int, Any]) -> Step:
    """Return a step with what is ``known`` of its gradients, by their identity, in their place."""

    def of(gradients: Sequence[Any]) -> tuple[Any, ...]:
        return tuple([None if g is None else known[id(g)] or UNKNOWN for g in gradients])

    return step._replace(
        incoming=of(step.incoming),
        hooked=of(step.hooked),
        deliveries=tuple(
            [Delivery(*delivery[:2], *of(delivery[2:])) for delivery in step.deliveries]
        ),
        before=of([step.before])[0],
        after=of([step.after])[0],
        captured=tuple([(place, *of([g])) for place, g in step.captured]),
    )


class ObservedPass:
    """Runs ``call`` node by node; as a context manager it undoes what it did, so that every
    ``.grad`` is as it was and nothing has been freed.

    With ``drops`` it keeps no more than some gradients while it runs: the others are described, and
    cannot be undone.
    """

    def __init__(self, call: BackwardCall, names: Names, *, drops: bool = False) -> None:
        self._call = call
        self._names = names
        self._engine = engine_of_call(call)
        self._driver = self._engine.driver(call)
        self._steps: list[Step] = []
        self._drops, self._described = drops, 0
        self._held = 0  # bytes of the steps that are not described
        self._later: tuple[list[int], Callable[[], StatisticsTable]] | None = None

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
        append, engine = self._steps.append, self._engine
        measures = engine.is_profiled()
        if self._drops:
            self._driver.only_forward()
        if measures:
            self._driver.measure()

        def keep(step: Step, seconds: float) -> bool:
            append(step)
            if measures:
                sent = [
                    delivery.gradient
                    for delivery in step.deliveries
                    if delivery.gradient is not None
                ]
                extents = [engine.tensor_extent(gradient) for gradient in sent]
                nbytes = sum(extent.nbytes for extent in extents if extent is not None)
                engine.measured(step.node, seconds, nbytes)
            if self._drops:
                self._held += self._driver.step_bytes(step)
                if self._held > _HELD:
                    self.describe()
            return True

        self._driver.record(len(self._steps), end, keep)

    @property
    def steps(self) -> list[Step]:
        """The steps of the nodes that have run."""
        described = self._steps[: self._described]
        return [*described, *map(self._driver.step_when_run, self._steps[self._described :])]

    def describe(self) -> None:
        """Describe the gradients of the steps so far, and keep the descriptions in their place."""
        steps = self.steps[self._described :]
        held = {id(g): g for step in steps for g in _gradients_of(step) if g is not None}
        table = self._engine.all_statistics(list(held.values()))
        known = dict(zip(held, table, strict=True))
        self._steps[self._described :] = [_with(step, known) for step in steps]
        self._described, self._held = len(self._steps), 0

    def settle(self) -> bool:
        """Keep what :meth:`graph` shows, of a pass that has run to its end, as it is now, so that
        the graph can be made later, or never; returns whether that can be done.

        Few bytes are kept besides: gradients that take more are described at once."""
        if self._held > _KEPT:
            self.describe()
        self._steps[self._described :] = steps = self.steps[self._described :]
        held = {id(g): g for step in steps for g in _gradients_of(step) if g is not None}
        described = self._driver.settle(list(held.values()))
        if described is None:
            return False
        self._later = list(held), described
        self._names.settle()
        return True

    def graph(self, view: View, title: str = "", *, lazy: bool = False) -> Graph:
        """Return the graph as it now stands, or as it did when it settled; a ``lazy`` one is to be
        read before anything else runs."""
        if self._later is not None:
            (held, described), self._later = self._later, None
            known = dict(zip(held, described(), strict=True))
            steps = self._steps[self._described :]
            self._steps[self._described :] = [_with(step, known) for step in steps]
            self._described = len(self._steps)
        plan = None if self._call.inputs else self._driver.plan  # else it may be a part
        return graph_of_call(
            self._call, view, self._names, self.steps, self.order, self._driver.effects, title,
            plan=plan, lazy=lazy,
        )  # fmt: skip

    @property
    def gradients(self) -> Gradients:
        """The gradients that a call of ``grad``, of which all has run, returns to the program."""
        gradients: Gradients = self._driver.gradients()
        return gradients

    def forget(self) -> None:
        """Keep no steps: they cannot be undone any more, nor told."""
        self._steps.clear()

    def undo(self) -> None:
        """Undo all that has run."""
        while self._steps:
            self._driver.undo(self._steps.pop())
        self._driver.undo_all()

    def release(self) -> None:
        """Let go of the saved values, as the call itself would have."""
        self._driver.release(len(self.order))

    def __enter__(self) -> Self:
        self._driver.retain_graph()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.undo()
