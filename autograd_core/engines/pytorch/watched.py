"""A pass of PyTorch's engine with a hook before and one behind each node, which tell what it did.

The engine runs in the calling thread, and the program's hooks and custom Functions run once, in
their order.  What nodes wait for is added up beside the engine, so that a difference shows what
hooks changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, Final, cast

import torch

from autograd_core.autograd.call import BackwardCall
from autograd_core.autograd.node import LEAF, Port
from autograd_core.autograd.step import Delivery, Step
from autograd_core.debug.history.driver_protocol import NodeEffects
from autograd_core.debug.history.hooks import HookCall
from autograd_core.engines.pytorch.entry import run as carry_out
from autograd_core.engines.pytorch.nodes import TorchNode
from autograd_core.engines.pytorch.order import leading_to, owner, plan_from
from autograd_core.engines.pytorch.tensors import array_of

Keep = Callable[[Step, float], bool]
_UNKNOWN: Final = "or tensor hook"  # which of the two it was cannot be seen


class _Stopped(Exception):
    """Ends a pass before the node at which it was to stop."""


@dataclass(slots=True)
class _Run:
    """A node while it runs, and afterwards: what arrived after its hooks, what it sent, and of a
    leaf the ``.grad`` before and after."""

    arrived: tuple[Any, ...]
    seconds: float
    sent: tuple[Any, ...] | None = None
    before: Any = None
    after: Any = None


class WatchedPass:
    """Runs ``call`` once, up to where it is told to.

    Attributes:
        order: the nodes in the order in which they run: foretold before the pass, real after it.
        effects: what hooks of the program's changed, by the index of the node.
    """

    def __init__(self, call: BackwardCall) -> None:
        self.call = call
        roots: Sequence[Any] = call.roots
        plan = plan_from(root.edge for root in roots)
        if call.inputs:
            plan = plan_from(
                (root.edge for root in roots),
                leading_to([each.edge for each in call.inputs if each.edge is not None], plan),
            )
        self.order: Sequence[Any] = plan.order
        self.effects: dict[int, NodeEffects] = {}
        self._retains = False
        self._gradients: Any = ()
        self._runs: dict[TorchNode, _Run] = {}  # in the order in which they began
        self._ends = self._find_ends()
        self._read_saved()

    def _find_ends(self) -> set[TorchNode]:
        """Return the nodes at which ``grad`` takes away what arrives, and which do not run."""
        if not self.call.is_grad:
            return set()
        inputs = {owner(each.edge) for each in self.call.inputs if each.edge is not None}
        running = set(self.order)
        return {
            node
            for node in inputs
            if not any(edge is not None and owner(edge) in running for edge in node.edges)
        }

    def _read_saved(self) -> None:
        # what the pass frees is to be told afterwards
        for node in self.order:
            node.saved()

    def record(self, start: int, stop: int, keep: Keep) -> None:
        """Run the pass up to node ``stop``, handing each Step and its seconds to ``keep``.

        Raises:
            Exception: whatever a node or a hook raised.
        """
        if start or self._runs:
            raise RuntimeError("a pass of PyTorch runs once, from its beginning")
        handles = [
            handle
            for node in self.order
            if node not in self._ends
            for handle in (
                node.origin.register_prehook(partial(self._prehook, node, stop)),
                node.origin.register_hook(partial(self._posthook, node)),
            )
        ]
        try:
            self._gradients = carry_out(self.call, keep=self._retains or None)
        except _Stopped:
            pass
        finally:
            for handle in handles:
                handle.remove()
        for step in self._steps(stop):
            ran = self._runs.get(cast(Any, step.node))
            if not keep(step, 0.0 if ran is None else ran.seconds):
                break

    def _prehook(self, node: TorchNode, stop: int, gradients: tuple[Any, ...]) -> None:
        if len(self._runs) >= stop:
            raise _Stopped
        run = self._runs[node] = _Run(gradients, 0.0)
        if node.kind == LEAF and (before := node.origin.variable.grad) is not None:
            run.before = before.detach().clone()  # the engine adds in place
        run.seconds = perf_counter()

    def _posthook(self, node: TorchNode, sent: tuple[Any, ...], arrived: tuple[Any, ...]) -> None:
        run = self._runs[node]
        run.seconds = perf_counter() - run.seconds
        run.sent = sent
        if node.kind == LEAF:
            run.after = node.origin.variable.grad

    def _steps(self, stop: int) -> list[Step]:
        ends = [node for node in self.order if node in self._ends]
        order: list[Any] = [*self._runs, *(ends if stop >= len(self.order) else ())]
        if order != self.order[: len(order)]:
            ran = set(order)
            self.order = [*order, *(node for node in self.order if node not in ran)]
        pending: dict[Any, Any] = {}
        for root, seed in zip(self.call.roots, self.call.seeds, strict=True):
            _deliver(pending, 0, root.edge, seed)
        steps = []
        with torch.no_grad():
            for index, node in enumerate(order):
                incoming = tuple(pending.pop(place, None) for place in _places(node))
                run = self._runs.get(node) or _Run(incoming, 0.0)
                self._compare(index, incoming, run.arrived)
                edges = () if run.sent is None else node.edges
                sent = (*(run.sent or ()), *[None] * len(edges))
                deliveries = tuple(
                    _deliver(pending, nr, edge, sent[nr]) for nr, edge in enumerate(edges)
                )
                captured: tuple[Any, ...] = ()
                if node in ends:
                    captured = tuple(zip(_places(node), incoming, strict=True))
                steps.append(
                    Step(
                        index, node, incoming, run.arrived, deliveries, run.before, run.after,
                        captured,
                    )
                )  # fmt: skip
        return steps

    def _compare(self, index: int, incoming: Sequence[Any], hooked: Sequence[Any]) -> None:
        """Note what hooks made of what arrived."""
        pairs = zip(incoming, hooked, strict=False)
        if all(a is b or (a is not None and b is not None and _same(a, b)) for a, b in pairs):
            return
        arrays = [
            tuple(None if g is None else array_of(g) for g in all) for all in (incoming, hooked)
        ]
        call = HookCall("pre", _UNKNOWN, 0, arrays[0], arrays[1])
        self.effects[index] = NodeEffects(0, 0, calls=(call,), user_code=True)

    def as_it_was(self, step: Step) -> Step:
        """Return ``step``; no gradient of it has been changed since."""
        return step

    def gradients(self) -> Any:
        """Return what the call returns to the program: of ``grad``, the gradients."""
        return self._gradients

    def undo(self, step: Step) -> None:
        """Give the leaf of ``step`` back the ``.grad`` that it had before."""
        node: Any = step.node
        if node.kind == LEAF and not step.captured:
            node.origin.variable.grad = step.before

    def retain_graph(self) -> None:
        """Keep what nodes saved, whatever the call says."""
        self._retains = True

    def release(self) -> None:
        """The engine has let go of what the call does not retain."""


def _places(node: Any) -> list[Any]:
    if node.output_count > 1:
        return [Port(node, nr) for nr in range(node.output_count)]
    return [node]


def _deliver(pending: dict[Any, Any], nr: int, edge: Any, gradient: Any) -> Delivery:
    if edge is None:
        return Delivery(nr, None, None, None, None)
    before = pending.get(edge)
    if gradient is None:
        return Delivery(nr, edge, None, before, before)
    after = pending[edge] = gradient if before is None else before + gradient
    return Delivery(nr, edge, gradient, before, after)


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    if one.layout is not torch.strided or other.layout is not torch.strided:
        return bool(one.shape == other.shape)  # sums of sparse gradients have no order
    equal = one.shape == other.shape and torch.allclose(one, other, rtol=0, atol=0, equal_nan=True)
    return bool(equal)
