"""What user code at nodes of the core changes beside what they send, as an undo log has it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final
from weakref import WeakValueDictionary

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.call import interceptor
from autograd_core.autograd.grad_mode import USUAL, Mode, current_mode, enter_mode, leave_mode
from autograd_core.autograd.memory import memory_of
from autograd_core.autograd.node import LEAF, Node
from autograd_core.autograd.packed import nodes_with_packed
from autograd_core.autograd.saved import SavedNode
from autograd_core.autograd.undo_log import UndoLog
from gradstep.contract.driver import Nested, NodeEffects, Pending
from gradstep.engines.native.arrays import array_of, is_shared, share
from gradstep.engines.native.hooks import KINDS, Watch
from gradstep.records import Delivery, Interceptor, Place, Step

_OURS: Final = (SavedNode, AccumulateGrad)  # with no hooks, these run no code of the program's


def runs_user_code(node: Node) -> bool:
    """Return whether ``node`` calls hooks, is a custom Function, or reads saved values that the
    user's hooks bring back."""
    hooks = node.hooks
    if hooks is not None and (hooks.tensor or hooks.pre or hooks.post or hooks.accumulated):
        return True
    inner: Node = getattr(node, "inner", node)  # of a change through a view
    return inner.runs_undefined or (inner.notes is not None and inner.notes in nodes_with_packed)


def nodes_of_user(order: Sequence[Node]) -> list[Node]:
    """List the nodes that :func:`runs_user_code`; most need not be asked, which takes 0.4 us."""
    packed = bool(nodes_with_packed)
    return [
        node
        for node in order
        if packed
        or not isinstance(node, _OURS)
        or ((notes := node.notes) is not None and notes.hooks is not None)
        if runs_user_code(node)
    ]


def keep_of_user(log: UndoLog, node: Node) -> None:
    """Let ``log`` keep what code of the user's at ``node`` changes without telling it."""
    log.keep_random_state()
    for kind in KINDS if node.hooks is not None else ():
        log.keep_items(getattr(node.hooks, kind))
    inner: Any = getattr(node, "inner", node)  # of a change through a view
    if inner.runs_undefined:
        log.keep_items(vars(inner.ctx))


def gradient_at(node: Any) -> Any:
    """Return a copy of the ``.grad`` of the leaf behind ``node``."""
    gradient = node.variable.grad
    return None if gradient is None else gradient.array.copy()


class Changes:
    """Finds what the nodes of ``order`` changed, in ``log``."""

    def __init__(self, log: UndoLog, order: Sequence[Node]) -> None:
        self._log, self._order = log, order
        # memory that user code changed in place
        self._changed: WeakValueDictionary[int, Any] = WeakValueDictionary()
        # by id of the leaf, or its gradient's memory, which several may share
        self._leaves_of: defaultdict[int, set[int]] = defaultdict(set)
        self._user_mode: Mode | None = None  # what user code runs in

    def begin(self) -> None:
        """Take note that nodes are about to run, and that the program ran."""
        self._leaves_of.clear()
        self._user_mode = None
        self._log.forget_random_state()  # the program may have drawn numbers

    def keep(self, node: Node, users: bool, *, makes_graph: bool) -> None:
        """Keep what ``node`` changes without being asked, and what nobody else tells of."""
        log = self._log
        if node.kind == LEAF:
            leaf: Any = node
            keep = log.keep_fields if makes_graph else log.keep_gradient
            keep(leaf.variable)
        if node.hooks is not None:
            for kept in node.hooks.retain.values():
                if (tensor := kept()) is not None:
                    log.keep_fields(tensor)
        if users:
            keep_of_user(log, node)

    @contextmanager
    def user_code(self, program: Mode | None, intercept: Interceptor | None) -> Iterator[None]:
        """Within it, user code runs: the log and ``intercept`` hear of it, and it is traced as the
        ``program`` is; the pass is not."""
        if self._user_mode is None:
            tracer = None if program is None else program.tracer
            mode = current_mode() or USUAL
            self._user_mode = replace(mode, tracer=tracer, undo_log=self._log)
        asked, token = interceptor.set(intercept), enter_mode(self._user_mode)
        try:
            yield
        finally:
            leave_mode(token)
            interceptor.reset(asked)

    def effects(
        self, step: Step, start: int, users: bool, watch: Watch, nested: tuple[Nested, ...]
    ) -> NodeEffects:
        """Return what the node of ``step``, which has run, changed since ``start``."""
        log = self._log
        results = [g for g in _results(step) if not is_shared(g)] if users else []
        stop = log.settle(results) if users else log.place()
        for gradient in results:
            share(gradient)
        gradients = self._gradients(step, start) if stop > start else ()
        nbytes, calls = log.nbytes(start, stop), tuple(watch.calls)
        return NodeEffects(start, stop, nbytes, calls, nested, users, gradients)

    def _gradients(self, step: Step, start: int) -> tuple[tuple[int, Any], ...]:
        """Return the ``.grad`` of other leaves than that of ``step`` that has changed since
        ``start``."""
        if not self._leaves_of:
            for number, node in enumerate(self._order):
                if node.kind == LEAF:
                    self._find_leaf(number)
        elif step.node.kind == LEAF:
            self._find_leaf(step.index)
        tensors, memories = self._log.changed(start)
        changed = {number for each in tensors for number in self._leaves_of.get(id(each), ())}
        for number in changed:
            self._find_leaf(number)
        for memory in memories:
            for number in self._leaves_of.get(id(memory), ()):
                leaf: Any = self._order[number]
                held = leaf.variable.grad
                if held is not None and memory_of(held.array) is memory:
                    changed.add(number)
        return tuple((n, gradient_at(self._order[n])) for n in sorted(changed - {step.index}))

    def _find_leaf(self, number: int) -> None:
        """Note which leaf, by its number in the plan, a tensor is, or memory is the gradient of."""
        node: Any = self._order[number]
        leaf = node.variable
        self._leaves_of[id(leaf)].add(number)
        if leaf.grad is not None:
            self._leaves_of[id(memory_of(leaf.grad.array))].add(number)

    def of_pending(self, pending: Pending, start: int) -> tuple[tuple[Place, Any], ...]:
        """Return what waits and was changed in place since ``start``, and note what else was."""
        _, memories = self._log.changed(start)
        changed = {id(memory): memory for memory in memories}
        self._changed.update(changed)
        return tuple(
            (place, g)
            for place, g in pending.items()
            if g is not None and id(memory_of(array_of(g))) in changed
        )

    # what is shown

    def concern(self, step: Step) -> bool:
        """Return whether user code has changed gradients of ``step`` in place."""
        return bool(self._changed) and any(
            map(self._was_changed, (*step.incoming, *_results(step)))
        )

    def step_when_run(self, step: Step, effects: NodeEffects) -> Step:
        """Return ``step`` as it was when its node, which had ``effects``, ran."""
        start, stop = effects.start, effects.stop
        hooked = [self.as_of(g, start) for g in step.hooked]
        for call in effects.calls:
            if call.kind == "tensor":
                hooked[call.output_nr] = call.after[0]
            elif call.kind == "pre":
                hooked = list(call.after)
        return step._replace(
            incoming=tuple(self.as_of(g, start) for g in step.incoming),
            hooked=tuple(hooked),
            deliveries=tuple(
                Delivery(*delivery[:2], *(self.as_of(g, stop) for g in delivery[2:]))
                for delivery in step.deliveries
            ),
            captured=tuple((place, self.as_of(g, start)) for place, g in step.captured),
        )

    def as_of(self, gradient: Any, place: int) -> Any:
        """Return ``gradient`` as it was at ``place`` in the log."""
        if not self._was_changed(gradient):
            return gradient
        return self._log.as_of(array_of(gradient), place)

    def _was_changed(self, gradient: Any) -> bool:
        return gradient is not None and id(memory_of(array_of(gradient))) in self._changed


def _results(step: Step) -> list[Any]:
    """Return the gradients that user code made at a node, as far as they are recorded."""
    sent = [delivery.gradient for delivery in step.deliveries] + [g for _, g in step.captured]
    return [g for g in (*step.hooked, *sent) if g is not None]
