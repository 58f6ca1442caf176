"""The driver of a recorded call: its nodes do again what was recorded of them, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import nan
from typing import Any, Final

from numpy.typing import NDArray

from gradstep.contract.driver import (
    BasicDriver,
    DeferredSteps,
    Nested,
    NodeEffects,
    OnSkipped,
    OnStep,
    Pending,
)
from gradstep.engines.recorded.call import RecordedCall, RecordedNode, RecordedPlan
from gradstep.engines.recorded.values import RecordedValue
from gradstep.records import Gradients, Interceptor, Place, Step

READ_ONLY: Final = "this is a recording: it can be looked at, not changed or run again"


class RecordedDriver(BasicDriver):
    """Goes through a recorded call, and knows of each node what was recorded."""

    read_only = READ_ONLY
    restore_note = ""
    rerunning = None

    def __init__(self, call: RecordedCall) -> None:
        super().__init__()
        self.call = call
        self.order: Sequence[RecordedNode] = call.order
        self.plan = RecordedPlan(call.order)
        self.pending: Pending = {place: None for node in call.order for place in call.places(node)}
        for root, seed in zip(call.roots, call.seeds, strict=True):
            self.pending[root.edge] = seed
        self.effects: dict[int, NodeEffects] = {}
        self.intercept: Interceptor | None = None
        self.nested: list[Nested] = []
        self._ran = 0

    # running

    def execute(self, index: int) -> Step:
        """Tell what node ``index`` did."""
        step = self.call.step(index)
        if calls := self.call.hook_calls(index):
            self.effects[index] = NodeEffects(0, 0, calls=calls, user_code=True)
        self.redo(step)
        return step

    def only_forward(self) -> None:
        """Do nothing: whoever goes back reads what was recorded."""

    def record(
        self,
        start: int,
        stop: int,
        on_step: OnStep,
        on_skipped: OnSkipped | None = None,
        deferred: DeferredSteps | None = None,
    ) -> None:
        for index in range(start, stop):
            if not on_step(self.execute(index), nan):
                return

    def run(self, start: int) -> None:
        self._ran = len(self.order)

    def undo(self, step: Step) -> None:
        super().undo(step)
        self._ran = step.index

    def redo(self, step: Step) -> None:
        super().redo(step)
        self._ran = step.index + 1

    def undo_all(self) -> None:
        self._ran = 0

    def forget(self, start: int) -> None:
        for index in [number for number in self.effects if number >= start]:
            del self.effects[index]

    # what is shown

    def places(self, node: RecordedNode) -> Sequence[Place]:
        return self.call.places(node)

    def entering_seeds(self) -> Sequence[Any]:
        return self.call.seeds

    def inner_passes(self) -> Iterable[Nested]:
        return ()

    def step_bytes(self, step: Step) -> int:
        """Return the bytes that the gradients took which a node made."""
        gradients = [delivery.gradient for delivery in step.deliveries]
        return sum(gradient.nbytes for gradient in gradients if gradient is not None)

    def runs_user_code(self, index: int) -> bool:
        return bool(self.call.facts(index).hooks)

    # the numbers of gradients

    def grad(self, index: int) -> RecordedValue | None:
        facts = self.call.facts(index)
        return self.call.value(facts.after if index < self._ran else facts.before)

    def grad_before(self, index: int) -> RecordedValue | None:
        return self.call.value(self.call.facts(index).before)

    def added(self, index: int) -> RecordedValue | None:
        return self.call.value(self.call.facts(index).hooked[0])

    def numbers(self, gradient: RecordedValue) -> NDArray[Any]:
        numbers = gradient.array()
        assert numbers is not None
        return numbers

    def agree(self, one: Any, other: Any) -> bool:
        return one is other

    # the end

    def release(self, stop: int | None = None) -> None:
        """Do nothing: nothing is kept."""

    def gradients(self) -> Gradients:
        """Return nothing: there is no program that waits for it."""
        return ()
