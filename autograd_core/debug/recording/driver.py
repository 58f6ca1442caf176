"""The driver of this package's own engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from typing import Any, Self

from autograd_core.autograd.call import (
    BackwardCall,
    Gradients,
    Interceptor,
    gradients,
    interceptor,
    noting_freed,
    pass_mode,
    start,
)
from autograd_core.autograd.grad_mode import USUAL, Mode, current_mode, enter_mode, leave_mode
from autograd_core.autograd.node import GENERAL, LEAF, Node, Port, resolve
from autograd_core.autograd.step import Step
from autograd_core.debug.recording.driver_protocol import Around, Keep, Nested, Pending, Place, Swap
from autograd_core.debug.recording.hooks import watching
from autograd_core.debug.recording.lending import Loans
from autograd_core.debug.recording.world import World, runs_user_code, world_around


class NativeDriver:
    """Drives this package's own engine.

    Saved values are kept while the pass is debugged, so that it can go back; ``release``
    does at the end what a plain pass does on the way.  Of passes that start inside a node,
    ``intercept`` hears; it puts their sessions into ``nested``.
    """

    def __init__(self, call: BackwardCall) -> None:
        self.call = call
        self._task = start(call._replace(keep=True))
        self.order = self._task.order
        self.plan = self._task.plan
        self.pending = self._task.pending
        self.around: dict[int, Around] = {}
        self.swaps: dict[int, tuple[Swap, ...]] = {}  # by the node that made them
        self.muted_edges: set[tuple[int, int]] = set()
        self.muted_hooks: set[tuple[int, int]] = set()
        self.intercept: Interceptor | None = None
        self.nested: list[Nested] = []
        self.failed_in = ""  # the hook that raised last
        self.live = True  # whether going back and forth changes the program's state
        self._mode_around = current_mode()  # of the program, while the pass has its own

    # running

    def execute(self, index: int) -> Step:
        """Run plan node ``index`` and tell what it did."""
        steps: list[Step] = []
        self.record(index, index + 1, lambda step, seconds: not steps.append(step))  # type: ignore[func-returns-value]
        return steps[0]

    def record(self, start: int, stop: int, keep: Keep) -> None:
        observe, order = self._task.observe_node, self.order
        muted = bool(self.muted_edges)
        self._mode_around = current_mode()
        with pass_mode(self.call.graph):
            for index in range(start, stop):
                node = order[index]
                began = perf_counter()
                if node.hooks is not None or node.kind == LEAF or node.kind >= GENERAL:
                    step = self._observe_around(index, node)
                else:
                    step = observe(index, node)
                if muted:
                    step = self._without_muted(step)
                if not keep(step, perf_counter() - began):
                    return

    def _observe_around(self, index: int, node: Node) -> Step:
        """Observe a node that may change more than sums that wait."""
        users = runs_user_code(node)
        if not users and node.hooks is None and node.kind != LEAF:
            return self._task.observe_node(index, node)
        self.nested = []
        muted = {id for at, id in self.muted_hooks if at == index}
        before = world_around(node)
        loans = Loans(self.pending, self.places(node) if users else ())
        token = interceptor.set(self.intercept) if users else None
        try:
            with watching(node, muted) as watch, _tracing(self._mode_around if users else None):
                try:
                    step = self._task.observe_node(index, node)
                except BaseException:
                    self.failed_in = watch.running
                    loans.put_back()
                    self._take_back(before, self.nested)
                    raise
        finally:
            if token is not None:
                interceptor.reset(token)
        step = step._replace(incoming=loans.originals(step.incoming))
        if loans.were_changed:
            step = self._settled(loans, step)
        self.around[index] = Around(
            before, world_around(node), tuple(watch.calls), tuple(self.nested)
        )
        return step

    def _settled(self, loans: Loans, step: Step) -> Step:
        """Let what the user's code changed in place reach all who share it, ahead of deliveries."""
        self._take_deliveries_back(step)
        self.swaps[step.index] = loans.settle()
        return self._deliver(step, frozenset())

    def _without_muted(self, step: Step) -> Step:
        """Let ``step`` send nothing along the edges that are muted."""
        if not any((step.index, each.output_nr) in self.muted_edges for each in step.deliveries):
            return step
        self._take_deliveries_back(step)
        return self._deliver(step, self.muted_edges)

    def _take_deliveries_back(self, step: Step) -> None:
        for delivery in reversed(step.deliveries):
            if delivery.edge is not None:
                self.pending[delivery.edge] = delivery.before

    def _deliver(self, step: Step, muted: Set[tuple[int, int]]) -> Step:
        """Deliver anew what ``step`` sends along edges that are not ``muted``."""
        deliveries = []
        for each in step.deliveries:
            if each.edge is not None:
                before = self.pending[each.edge]
                g = None if (step.index, each.output_nr) in muted else each.gradient
                after = before if g is None else g if before is None else before + g
                self.pending[each.edge] = after
                each = each._replace(gradient=g, before=before, after=after)
            deliveries.append(each)
        return step._replace(deliveries=tuple(deliveries))

    def run(self, start: int) -> None:
        if self.muted_edges or self.muted_hooks:
            self.record(start, len(self.order), lambda step, seconds: True)
            return
        with pass_mode(self.call.graph):
            self._task.run(start)

    # going back and forth

    def undo(self, step: Step) -> None:
        pending = self.pending
        self._take_deliveries_back(step)
        for place, gradient in self.inputs(step):
            pending[place] = gradient
        for swap in self.swaps.get(step.index, ()):
            pending[swap.place] = swap.before
        for place, _ in step.captured:
            self._task.captured[place] = None
        around = self.around.get(step.index)
        if around is not None:
            self._take_back(around.before, around.nested)

    def redo(self, step: Step) -> None:
        pending = self.pending
        for place, _ in self.inputs(step):
            pending[place] = None
        for swap in self.swaps.get(step.index, ()):
            pending[swap.place] = swap.after
        for delivery in step.deliveries:
            if delivery.edge is not None:
                pending[delivery.edge] = delivery.after
        self._task.captured.update(step.captured)
        around = self.around.get(step.index)
        if around is not None and self.live:
            self._bring_back(around)

    def _bring_back(self, around: Around) -> None:
        for each in around.nested:
            each.bring_back()
        around.after.restore()

    def _take_back(self, before: World, nested: Sequence[Nested]) -> None:
        if self.live:
            for each in reversed(nested):
                each.take_back()
            before.restore()

    def take_back(self) -> None:
        """Undo what the whole pass did to the program's state; to its sums nothing."""
        for index in sorted(self.around, reverse=True):
            around = self.around[index]
            for each in reversed(around.nested):
                each.take_back()
            around.before.restore()

    def bring_back(self) -> None:
        """Do it again, from the record."""
        for _, around in sorted(self.around.items()):
            self._bring_back(around)

    def inputs(self, step: Step) -> list[tuple[Place, Any]]:
        places = self.places(step.node)
        return [
            (place, step.incoming[place.nr if isinstance(place, Port) else 0]) for place in places
        ]

    def places(self, node: Node) -> Sequence[Place]:
        """The input buffers of ``node``."""
        return self.plan.ports.get(node, ()) if node.ported else [node]

    def entering_seeds(self) -> list[Any]:
        """The gradients of the roots that take part in the pass, in their order."""
        seeds = self.call.seeds
        if len(self.order) == len(self.plan.order):
            return list(seeds)
        here = set(self.order)
        nodes = (resolve(root.edge)[0] for root in self.call.roots)
        return [seed for seed, node in zip(seeds, nodes, strict=True) if node in here]

    def fork(self, pending: Pending) -> Self:
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__)
        other._task = self._task.fork(pending)
        other.pending = other._task.pending
        other.around = {}
        other.swaps = dict(self.swaps)
        return other

    @contextmanager
    def as_before(self, start: int) -> Iterator[None]:
        changed = [
            around
            for index, around in sorted(self.around.items())
            if index >= start and around.before.data is not None
        ]
        now = [around.before.data.now() for around in changed if around.before.data is not None]
        for around in reversed(changed):
            assert around.before.data is not None
            around.before.data.restore()
        try:
            yield
        finally:
            for data in now:
                data.restore()

    def forget(self, start: int) -> None:
        for index in [index for index in self.around if index >= start]:
            del self.around[index]
            self.swaps.pop(index, None)

    # the end

    def release(self) -> None:
        if not self.call.keep:
            with noting_freed(self.call, self._task):
                for node in self.order:
                    node.release()

    def gradients(self) -> Gradients:
        return gradients(self.call, self._task)


@contextmanager
def _tracing(around: Mode | None) -> Iterator[None]:
    """Trace the user's code in a node as the program ``around`` is traced; a pass itself is not."""
    now = current_mode() or USUAL
    if around is None or around.tracer is now.tracer:
        yield
        return
    token = enter_mode(replace(now, tracer=around.tracer))
    try:
        yield
    finally:
        leave_mode(token)
