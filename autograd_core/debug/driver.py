"""What stands under a session: something that runs the nodes of one backward pass.

A driver executes plan nodes one by one and can take them back; it knows nothing of
positions, breakpoints or screens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.backward import BackwardCall, pass_mode, start
from autograd_core.autograd.engine import Step
from autograd_core.autograd.node import Node, Port
from autograd_core.autograd.plan import Plan
from autograd_core.tensor import Tensor

Place = Node | Port


class Driver(Protocol):
    """One backward pass, at the mercy of a session."""

    order: Sequence[Node]
    plan: Plan

    def execute(self, index: int) -> Step:
        """Run plan node ``index`` and tell what it did."""
        ...

    def undo(self, step: Step) -> None:
        """Put everything back to what it was before ``step``, which was the last one."""
        ...

    def redo(self, step: Step) -> None:
        """Do what ``step`` did, from its record, calling no code of the user's."""
        ...

    def run(self, start: int) -> None:
        """Run everything from plan node ``start`` on, keeping no record."""
        ...

    def release(self) -> None:
        """Let go of saved values as the plain pass would have."""
        ...


class _Grad(NamedTuple):
    """A leaf's ``.grad`` at one moment: the tensor, and what it held."""

    tensor: Tensor | None
    held: Any

    def restore(self, leaf: Tensor) -> None:
        leaf.grad = self.tensor
        if self.tensor is not None:
            np.copyto(self.tensor.array, self.held)


def _grad_of(leaf: Tensor) -> _Grad:
    return _Grad(leaf.grad, None if leaf.grad is None else leaf.grad.array.copy())


class NativeDriver:
    """Drives this package's own engine.

    Saved values are kept while the pass is debugged, so that it can go back; ``release``
    does at the end what a plain pass does on the way.
    """

    def __init__(self, call: BackwardCall) -> None:
        self._call = call
        self._task = start(call._replace(keep=True))
        self.order = self._task.order
        self.plan = self._task.plan
        self.ports = self._task.ports
        self.pending = self._task.pending
        self._grads: dict[int, tuple[_Grad, _Grad]] = {}

    def execute(self, index: int) -> Step:
        node = self.order[index]
        leaf = node.variable if isinstance(node, AccumulateGrad) else None
        before = None if leaf is None else _grad_of(leaf)
        held = {place: self.pending[place] for place in self._places(node)}
        try:
            with pass_mode(self._call.graph):
                (step,) = self._task.observe(index, index + 1)
        except BaseException:
            # The node has emptied its buffers; it did not run, so it must find them again.
            self.pending.update(held)
            raise
        if leaf is not None and before is not None:
            self._grads[index] = (before, _grad_of(leaf))
        return step

    def undo(self, step: Step) -> None:
        pending = self.pending
        for delivery in reversed(step.deliveries):
            if delivery.edge is not None:
                pending[delivery.edge] = delivery.before
        for place, gradient in self.inputs(step):
            pending[place] = gradient
        if isinstance(step.node, AccumulateGrad):
            self._grads[step.index][0].restore(step.node.variable)

    def redo(self, step: Step) -> None:
        pending = self.pending
        for place, _ in self.inputs(step):
            pending[place] = None
        for delivery in step.deliveries:
            if delivery.edge is not None:
                pending[delivery.edge] = delivery.after
        if isinstance(step.node, AccumulateGrad):
            self._grads[step.index][1].restore(step.node.variable)

    def inputs(self, step: Step) -> list[tuple[Place, Any]]:
        """The input buffers that ``step`` emptied, and what each held."""
        return [
            (place, step.incoming[place.nr if isinstance(place, Port) else 0])
            for place in self._places(step.node)
        ]

    def _places(self, node: Node) -> Sequence[Place]:
        return self.ports.get(node, ()) if node.ported else [node]

    def run(self, start: int) -> None:
        with pass_mode(self._call.graph):
            self._task.run(start)

    def release(self) -> None:
        if not self._call.keep:
            for node in self.order:
                node.release()
