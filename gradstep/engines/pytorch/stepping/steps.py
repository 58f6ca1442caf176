"""Steps of what the hooks behind PyTorch's nodes were given, and what leaves show of it later.

What nodes wait for is added up beside the engine, so that a difference shows what hooks changed.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, Final
from weakref import ref

import torch

from gradstep.contract.driver import STEP_BYTES, Nested, NodeEffects, Pending
from gradstep.engines.pytorch.calls import TorchCall
from gradstep.engines.pytorch.order import owner
from gradstep.engines.pytorch.private import (
    TensorBase,
    grad_enabled,
    late_hooks,
    unobserved,
)
from gradstep.engines.pytorch.stepping.observed_engine import NodeRun, ObservedEngine
from gradstep.engines.pytorch.stepping.replay import arrived, deliver, places_of, take, within_pass
from gradstep.engines.pytorch.tensors import (
    added,
    array_of,
    copy_of,
    differ,
    has_memory,
    is_passed_on,
    nbytes_of,
    version_of,
)
from gradstep.graph.addresses import step_number
from gradstep.guest.fence import tell
from gradstep.records import LEAF, HookCall, Step, new_delivery, new_step

_UNKNOWN: Final = "or tensor hook"  # which of the two it was cannot be seen


class StepMaker:
    """Makes the Step of each node that ``engine`` has run, from the sums that wait.

    Attributes:
        pending: the sums that wait.
        effects, changed_gradients: as of :class:`~gradstep.contract.driver.Driver`.
        wanted: the places of which ``grad`` takes what arrives.
        captured: what it has taken there.
    """

    def __init__(self, call: TorchCall, engine: ObservedEngine, *, watched: bool = False) -> None:
        self._call, self._engine, self._is_watched = call, engine, watched
        self.pending: Pending = {place: None for node in engine.order for place in places_of(node)}
        for root, seed in zip(call.roots, call.seeds, strict=True):
            if owner(root.edge) in engine.index:
                deliver(self.pending, 0, root.edge, seed)
        self.effects: dict[int, NodeEffects] = {}
        self.changed_gradients: dict[int, dict[int, Any]] = {}
        self.wanted = {x.edge for x in call.inputs} if call.is_grad else set()
        self.captured: dict[Any, Any] = {}
        self._sizes: dict[int, int] = {}  # by index, what a step takes
        self._told = False  # that a .grad which a leaf's step shows was changed since

    def unreached(self, index: int) -> Step:
        """Make the Step of a node that does not run: ``grad`` takes what arrives, or nothing
        does."""
        node = self._engine.order[index]
        incoming = take(self.pending, node)
        captured = self._capture(node, incoming)
        edges = () if node in self._engine.ends else node.edges
        unsent = tuple(deliver(self.pending, nr, to, None) for nr, to in enumerate(edges))
        gradients = self._engine.gradients
        held = gradients.unless_it_runs(index) if index in gradients.leaves else None
        return Step(index, node, incoming, incoming, unsent, held, held, captured)

    def _capture(self, node: Any, gradients: tuple[Any, ...]) -> tuple[tuple[Any, Any], ...]:
        """Note what ``grad`` takes at ``node``."""
        captured = arrived(node, gradients, self.wanted)
        self.captured.update(captured)
        return captured

    def of_run(self, index: int, run: NodeRun, muted: Set[tuple[int, int]]) -> Step:
        """Make the Step of a node that has run, with nothing sent along ``muted`` edges."""
        node, pending = self._engine.order[index], self.pending
        self._sizes.pop(index, None)
        sent, hooked, _, _ = run
        nested = self._engine.inside.get(index, ())
        calls: tuple[HookCall, ...] = ()
        if node.output_count == 1 and pending[node] is hooked[0]:  # as nearly always
            incoming, pending[node] = hooked, None
        else:
            incoming = take(pending, node)
            pairs = list(zip(incoming, hooked, strict=False))
            if not any(one is not other and differ(one, other) for one, other in pairs):
                # a sum for which other processes would be needed is known to the engine alone
                hooked = incoming = tuple(
                    [one if one is None or has_memory(one) else other for one, other in pairs]
                )
            else:
                calls = (_change("pre", _UNKNOWN, incoming, hooked),)
        # of a node that runs, the engine takes what arrived ahead of hooks
        captured = self._capture(node, incoming) if self.wanted else ()
        if node.kind == LEAF:
            before, after, later = self._accumulated(index, run)
            if calls or later or nested or index in self._engine.gradients.changed:
                self._note(index, (*calls, *later), nested)
            return new_step((index, node, incoming, hooked, (), before, after, captured))
        if calls or nested or node.is_function or index in self._engine.gradients.changed:
            self._note(index, calls, nested)
        if muted:
            sent = tuple(None if (index, nr) in muted else g for nr, g in enumerate(sent))
        edges = node.edges
        if len(sent) < len(edges):
            sent = (*sent, *[None] * (len(edges) - len(sent)))
        if self._call.inputs:
            sent = within_pass(sent, edges, self._engine.index)
        deliveries = []
        for nr, edge in enumerate(edges):
            if edge is None:
                deliveries.append(new_delivery((nr, None, None, None, None)))
                continue
            gradient, there = sent[nr], pending.get(edge)
            if type(gradient) is ref:
                gradient = gradient()
                if gradient is not None and not self._engine.has_run(self._engine.index[edge]):
                    # held, it would be copied by the engine, which modes of the program see
                    copy = copy_of(gradient)
                    gradient = gradient if copy is None else copy
            total = there
            if gradient is not None:
                total = pending[edge] = gradient if there is None else added(there, gradient)
            deliveries.append(new_delivery((nr, edge, gradient, there, total)))
        return new_step((index, node, incoming, hooked, tuple(deliveries), None, None, captured))

    def taken_at_ends(self) -> Pending:
        """Return what ``grad`` has taken where the pass ends; a run that goes on takes it anew."""
        ends = self._engine.ends
        return {
            place: g for place, g in self.captured.items() if g is not None and owner(place) in ends
        }

    def _note(self, index: int, calls: tuple[HookCall, ...], nested: tuple[Nested, ...]) -> None:
        states = sorted(self._engine.gradients.changed.get(index, {}).items())
        changed = tuple((leaf, copy) for leaf, (_, copy, _) in states if leaf != index)
        for leaf, gradient in changed:
            self.changed_gradients.setdefault(leaf, {})[index] = gradient
        self.effects[index] = NodeEffects(0, 0, 0, calls, nested, True, changed)

    def _accumulated(self, index: int, run: NodeRun) -> tuple[Any, Any, tuple[HookCall, ...]]:
        """Return the ``.grad`` of a leaf before and after its node, and what hooks made of it."""
        (_, (gradient, *_), _, now), gradients = run, self._engine.gradients
        before = gradients.before[index][1]
        leaf = self._engine.order[index].origin.variable
        hooks = late_hooks(leaf, unknown=True)
        if not hooks and not self._is_watched:
            return before, now, ()
        gradients.versions.pop(index, None)
        after = _sum(before, gradient) if gradients.still_adds(index, gradient) else now
        if not differ(after, now):
            return before, after if after is None or has_memory(after) else now, ()
        now = None if now is None else copy_of(now)
        return before, now, (_change("accumulated", "", (after,), (now,)),)

    def added(self, index: int) -> Any:
        """Return what a leaf had added, as :meth:`~gradstep.contract.driver.Driver.added` does."""
        if (run := self._engine.runs.get(index)) is None:
            return None
        gradients, gradient = self._engine.gradients, self._engine.order[index].origin.variable.grad
        taken_over = gradients.before[index][1] is None and gradient is run[3] is not None
        is_as_it_was = taken_over and version_of(gradient) == gradients.versions.get(index)
        return gradient if is_as_it_was else run[1][0]

    def forget(self, start: int) -> None:
        """Forget what nodes from ``start`` on did."""
        for index in [number for number in self.effects if number >= start]:
            for leaf, _ in self.effects.pop(index).gradients:
                del self.changed_gradients[leaf][index]
        # steps that were thinned out did not undo what they took
        places = self._engine.index
        self.captured = {
            place: g for place, g in self.captured.items() if places[owner(place)] < start
        }

    # what is shown

    def step_when_run(self, step: Step) -> Step:
        """Return ``step`` with the ``.grad`` that its leaf had when it had run."""
        if step.after is None:
            return step
        gradients = self._engine.gradients
        if (made := gradients.made.get(step.index)) is not None:
            return step._replace(after=made[1])
        if gradients.versions.get(step.index) in (None, version_of(step.after)):
            return step
        (gradient,) = step.hooked
        if gradients.still_adds(step.index, gradient) and not is_passed_on(step.after, gradient):
            with unobserved(), grad_enabled(False):
                return step._replace(after=_sum(step.before, gradient))
        if not self._told:
            self._told = True
            tell(
                f"the .grad that {step_number(step.index)} made was changed in place later: it is "
                "shown as it is now"
            )
        return step

    def summed_up(self, step: Step) -> Any:
        """Return the ``.grad`` of a leaf by the record of its node; as it is, where a hook or
        somebody later changed it."""
        after, effects, gradients = step.after, self.effects.get(step.index), self._engine.gradients
        hooked = effects is not None and any(call.kind == "accumulated" for call in effects.calls)
        if after is None or hooked or after.layout is not torch.strided or self._is_watched:
            return after
        if step.index not in gradients.added:
            return after  # the program has frozen it since its forward pass: nothing was added
        gradient, version = step.hooked[0], gradients.versions.get(step.index)
        if version != version_of(after) or not gradients.still_adds(step.index, gradient):
            return after  # it did not run, or was changed in place since, or what it added was
        if step.before is not None and gradient is not None and is_passed_on(after, gradient):
            return after  # the program gave memory that has become a .grad
        with unobserved(), grad_enabled(False):
            return _sum(step.before, gradient)

    def bytes_of(self, step: Step, *, again: bool) -> int:
        """Return what a step keeps alive that no step before it does; it may be asked ``again``."""
        size = self._sizes.get(step.index)
        if size is None:
            with unobserved():
                size = _bytes_of(step)
                if step.index in self._engine.gradients.made:
                    size += nbytes_of(step.after)
                self._sizes[step.index] = size
        return size


def _bytes_of(step: Step) -> int:
    if step.node.kind == LEAF:
        return STEP_BYTES if step.before is None else STEP_BYTES + nbytes_of(step.before)
    size, given, place = STEP_BYTES, step.hooked[0], None
    if step.hooked is not step.incoming:
        size += sum([nbytes_of(g) for g in step.hooked if g is not None])
    for _, _, gradient, before, after in step.deliveries:
        if gradient is None:
            continue
        if gradient is not given:
            try:
                if place is None:
                    place = None if given is None else TensorBase.data_ptr(given)
                if TensorBase.data_ptr(gradient) != place:
                    size += gradient.nbytes
            except (RuntimeError, NotImplementedError):  # it has no memory of its own
                size += nbytes_of(gradient)
        if before is not None:
            size += nbytes_of(after)
    return size


def _sum(before: Any, gradient: Any) -> Any:
    """Return what the engine makes of the ``.grad`` of a leaf."""
    if before is None or gradient is None:
        return gradient if before is None else before
    return added(before, gradient)


def _change(kind: Any, name: str, before: Sequence[Any], after: Sequence[Any]) -> HookCall:
    """Tell what hooks made of gradients."""
    return HookCall(kind, name, 0, tuple(map(_numbers, before)), tuple(map(_numbers, after)))


def _numbers(gradient: Any) -> Any:
    """Return the numbers of a gradient, which the program may change later."""
    copy = None if gradient is None else copy_of(gradient)
    return None if copy is None else array_of(copy)
