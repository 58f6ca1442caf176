"""The driver of this package's own engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from time import perf_counter
from types import TracebackType
from typing import Any, Final, NamedTuple, Self, cast
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.anomaly_mode import run_watched, watched
from autograd_core.autograd.call import (
    BackwardCall,
    gradients,
    interceptor,
    note_freed,
    pass_mode,
    start,
)
from autograd_core.autograd.grad_mode import (
    USUAL,
    Anomaly,
    Mode,
    current_mode,
    enter_mode,
    leave_mode,
    undo_log,
)
from autograd_core.autograd.memory import memory_of
from autograd_core.autograd.node import LEAF, ONE_EDGE, Node, Port, resolve
from autograd_core.autograd.packed import nodes_with_packed
from autograd_core.autograd.saved import SavedNode
from autograd_core.autograd.undo_log import UndoLog
from autograd_core.tensor import Tensor
from gradstep.engines.driver import (
    STEP_BYTES,
    BasicDriver,
    DeferredSteps,
    Nested,
    NodeEffects,
    OnSkipped,
    OnStep,
    Pending,
    collecting,
    undo_deliveries,
)
from gradstep.engines.native.arrays import array_of, is_shared, share
from gradstep.engines.native.hooks import KINDS, Watch
from gradstep.graph.fence import by_program, run_of, within_fence
from gradstep.records import Delivery, Gradients, Interceptor, Place, Step

_OURS: Final = (SavedNode, AccumulateGrad)  # with no hooks, these run no code of the program's
_FEWEST = 4  # nodes that are worth a loop of their own
_MOST = 512  # so that memory is freed on the way, and a pass can be interrupted
_UNSEEN = 0.01  # seconds that nobody waits for


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


class _Failure(NamedTuple):
    """What the node ``at`` an index raised that ran the user's code, which does not run again
    unless something has changed.  Up to ``end`` in the log, its changes are undone, where the pass
    can go back; a plain pass leaves them."""

    at: int
    error: Exception
    traceback: TracebackType | None
    start: int
    end: int


class NativeDriver(BasicDriver):
    """Drives this package's own engine.

    Saved values are kept while the pass is debugged, so that it can go back; ``release``
    does at the end what a plain pass does on the way.  Of passes that start inside a node,
    ``intercept`` hears; it puts their sessions into ``nested``.

    What user code changes is kept in an undo log.  A pass inside another one writes into
    the log of that one: by itself it is never undone.
    """

    def __init__(self, call: BackwardCall) -> None:
        super().__init__()
        self.call = call
        self._task = start(call, keep=True)
        self.order = self._task.order
        self.plan = self._task.plan
        self.pending: Pending = self._task.pending
        for seed in call.seeds:
            share(seed)
        self.effects: dict[int, NodeEffects] = {}
        self.disturbances = 0  # how often memory was changed in place that gradients may share
        self._changed: WeakValueDictionary[int, Any] = WeakValueDictionary()  # that memory
        # whether to guard what is shown from later changes
        self._guards = call.graph or bool(nodes_of_user(self.order))
        self._freeing_from = len(self.order)  # from there on the pass itself freed what was saved
        self.intercept: Interceptor | None = None
        self.nested: list[Nested] = []
        self._failure: _Failure | None = None
        self._goes_back = True
        self.read_only = ""
        self._grads = {
            index: None if (grad := self.grad(index)) is None else grad.array.copy()
            for index, node in enumerate(self.order)
            if node.kind == LEAF
        }
        outer = undo_log()
        self._log = UndoLog() if outer is None else outer
        self._is_inner = outer is not None
        self._program: Mode | None = None  # the mode around the pass
        self._user_mode: Mode | None = None  # what user code runs in
        self._leaf_of: dict[int, int] | None = None  # by id of the leaf, or its gradient's memory
        self._ran = 0  # nodes of the pass, as far as it came
        if (noted := run_of(call.roots)) is not None:
            noted.release, noted.gradients = self.release, self.gradients
            noted.finish = self._finish

    restore_note = (
        ".grad, tensors, modules, optimizers and random state are restored; other changes "
        "(Python objects, files, NumPy arrays) are not"
    )

    def only_forward(self) -> None:
        self._goes_back = False

    # running

    def record(
        self,
        start: int,
        stop: int,
        on_step: OnStep,
        on_skipped: OnSkipped | None = None,
        deferred: DeferredSteps | None = None,
    ) -> None:
        self._program, self._user_mode, self._leaf_of = current_mode(), None, None
        self._log.forget_random_state()  # the program may have drawn numbers
        noted = run_of(self.call.roots)
        if noted is not None:
            noted.begun = True
        with pass_mode(self.call.graph, self._task):
            if on_skipped is None or self._guards or self.muted_edges or self._anomaly is not None:
                came_to_stop = self._observe(start, stop, on_step)
            else:
                came_to_stop = self._pass_over(start, stop, on_step, on_skipped)
        if noted is not None and came_to_stop:
            noted.over = stop == len(self.order)

    @property
    def _anomaly(self) -> Anomaly | None:
        """What the program has anomaly mode look for, None where it is off."""
        return None if self._program is None else self._program.anomaly

    def _observe(self, start: int, stop: int, on_step: OnStep) -> bool:
        """Run nodes one by one; whether ``on_step`` let it come to the end."""
        order, packed = self.order, nodes_with_packed or ()
        observed = self._task.observe(start, stop)
        if self._anomaly is not None:
            undo: Any = self.undo  # of a step of the core, which has the same fields
            observed = watched(observed, order[start:stop], self._anomaly.check_nan, undo)
        steps = self._taken(cast("Iterator[Step]", observed))
        muted = bool(self.muted_edges)
        for index in range(start, stop):
            node = order[index]
            began = perf_counter()
            kind = node.kind
            if node.hooks is not None or kind < ONE_EDGE or node.notes in packed:
                step = self._observe_around(index, node, steps)
                packed = nodes_with_packed or ()  # a hook may have set further ones
            else:
                step = next(steps)
            if muted:
                step = self._without_muted(step)
            if self._guards:
                for delivery in step.deliveries:
                    if delivery.after is not None:
                        share(delivery.after)
            if not on_step(step, perf_counter() - began):
                return False
        return True

    def _taken(self, steps: Iterator[Step]) -> Iterator[Step]:
        """Yield the steps, noting how far the pass is; what a node or a hook raises is the
        program's."""
        with by_program():
            for step in steps:
                self._ran = step.index + 1
                yield step

    def _finish(self) -> None:
        """Make what is left of the pass after an error of ours, wherever that came."""
        self.run(self._ran)

    def _pass_over(self, start: int, stop: int, on_step: OnStep, on_skipped: OnSkipped) -> bool:
        """Run nodes as a plain pass does, some at a time; one by one where they run user code,
        change a ``.grad``, or fail.  Returns as :meth:`_observe` does."""
        count = _FEWEST
        goes_on = True
        while goes_on and start < stop:
            end = self._end_of_plain(start, min(start + count, stop))
            if end - start < _FEWEST:
                end = min(end + 1, stop)
                goes_on = self._observe(start, end, on_step)
            else:
                began = perf_counter()
                if self._run_plainly(start, end):
                    goes_on = on_skipped(end - start)
                else:
                    goes_on = self._observe(start, end, on_step)
                if perf_counter() - began < _UNSEEN:
                    count = min(2 * count, _MOST)
                else:
                    count = max(_FEWEST, count // 2)
            start = end
        return goes_on

    def _end_of_plain(self, start: int, stop: int) -> int:
        """Return the first node from ``start`` on that is to run by itself."""
        order = self.order
        for index in range(start, stop):
            node = order[index]
            notes = node.notes
            if (notes is not None and notes.hooks is not None) or node.kind == LEAF:
                return index
        return stop

    def _run_plainly(self, start: int, stop: int) -> bool:
        """Run nodes that no user code belongs to; False if one failed, and none of them has run."""
        waiting = dict(self.pending)
        try:
            self._task.run(start, stop)
            self._ran = stop
        except BaseException as error:
            self.pending.clear()
            self.pending.update(waiting)
            if not isinstance(error, Exception):
                raise
            return False
        return True

    def _observe_around(self, index: int, node: Node, steps: Iterator[Step]) -> Step:
        """Take the next of ``steps``, of a node that may change more than sums that wait."""
        users = runs_user_code(node)
        if not users and node.hooks is None and node.kind != LEAF:
            return next(steps)
        if self._failure is not None:
            self._raise_again(index)
        self.nested = []
        muted = {id for at, id in self.muted_hooks if at == index}
        log, start = self._log, self._log.place()
        if users:
            self._guards = True
            for place in self.places(node):
                if self.pending[place] is not None:
                    share(self.pending[place])
        try:
            watch = Watch(node, muted)
            self._keep_state(node, users)
        except Exception:  # an error of ours, which is no failure of the node
            log.go(start)
            log.cut(start)
            raise
        token = interceptor.set(self.intercept) if users else None
        try:
            with self._mode_of(users), watch.acting():
                try:
                    step = next(steps)
                except BaseException:
                    self.failed_in = watch.running
                    raise
        except BaseException as error:
            end = log.place()
            if isinstance(error, Exception) and not isinstance(error, MemoryError):
                self._failure = _Failure(index, error, error.__traceback__, start, end)
            # what becomes of a pass inside another one is up to the code around it
            if self._goes_back and not self._is_inner:
                log.go(start)
                if self._failure is None:
                    log.cut(start)
            raise
        finally:
            if token is not None:
                interceptor.reset(token)
        with within_fence("what the node changed"):  # it ran: no error of ours undoes that
            self._note_effects(index, step, start, users, watch)
        return step

    def _note_effects(self, index: int, step: Step, start: int, users: bool, watch: Watch) -> None:
        """Keep what the node of ``step`` changed, as the log has it since ``start``."""
        log = self._log
        if step.node.kind == LEAF:
            self._find_leaf(index)
        results = [g for g in _results(step) if not is_shared(g)] if users else []
        stop = log.settle(results) if users else log.place()
        if users and stop > start:
            self._find_changed(index, start)
        for gradient in results:
            share(gradient)
        changed = self._changed_gradients(index, start) if users and stop > start else ()
        self.disturbances += users and stop > start
        for leaf, gradient in changed:
            self.changed_gradients.setdefault(leaf, {})[index] = gradient
        nbytes, nested = log.nbytes(start, stop), tuple(self.nested)
        calls = tuple(watch.calls)
        self.effects[index] = NodeEffects(start, stop, nbytes, calls, nested, users, changed)

    def _raise_again(self, index: int) -> None:
        """Raise what node ``index`` raised before, if it did."""
        failure = self._failure
        if failure is not None and failure.at == index:
            raise failure.error.with_traceback(failure.traceback)

    def _keep_state(self, node: Node, users: bool) -> None:
        """Keep what ``node`` changes without being asked, and what nobody else tells of."""
        log = self._log
        if node.kind == LEAF:
            leaf: Any = node
            keep = log.keep_fields if self.call.graph else log.keep_gradient
            keep(leaf.variable)
        if node.hooks is not None:
            for kept in node.hooks.retain.values():
                tensor = kept()
                if tensor is not None:
                    log.keep_fields(tensor)
        if users:
            keep_of_user(log, node)

    @contextmanager
    def _mode_of(self, users: bool) -> Iterator[None]:
        """The mode of user code, which is traced as the program is; the pass is not."""
        if not users:
            yield
            return
        if self._user_mode is None:
            tracer = None if self._program is None else self._program.tracer
            mode = current_mode() or USUAL
            self._user_mode = replace(mode, tracer=tracer, undo_log=self._log)
        token = enter_mode(self._user_mode)
        try:
            yield
        finally:
            leave_mode(token)

    def _changed_gradients(self, index: int, start: int) -> tuple[tuple[int, Any], ...]:
        """Return the ``.grad`` of other leaves than that at ``index`` that has changed since
        ``start``."""
        if self._leaf_of is None:
            self._leaf_of = {}
            for number, node in enumerate(self.order):
                if node.kind == LEAF:
                    self._find_leaf(number)
        leaf_of = self._leaf_of
        tensors, memories = self._log.changed(start)
        for tensor in tensors:
            if id(tensor) in leaf_of:
                self._find_leaf(leaf_of[id(tensor)])
        changed = {leaf_of.get(id(tensor), index) for tensor in (*tensors, *memories)} - {index}
        return tuple((number, _gradient(self.order[number])) for number in sorted(changed))

    def _find_leaf(self, number: int) -> None:
        """Note which leaf, by its number in the plan, a tensor is, or memory is the gradient of."""
        if self._leaf_of is not None:
            node: Any = self.order[number]
            leaf = node.variable
            self._leaf_of[id(leaf)] = number
            if leaf.grad is not None:
                self._leaf_of[id(memory_of(leaf.grad.array))] = number

    def _find_changed(self, index: int, start: int) -> None:
        """Note what user code at node ``index`` changed of what waits."""
        _, memories = self._log.changed(start)
        changed = {id(memory): memory for memory in memories}
        self._changed.update(changed)
        self.changed_pending[index] = tuple(
            (place, g)
            for place, g in self.pending.items()
            if g is not None and id(memory_of(array_of(g))) in changed
        )

    def _without_muted(self, step: Step) -> Step:
        """Let ``step`` send nothing along the edges that are muted."""
        if not any(
            (step.index, delivery.output_nr) in self.muted_edges for delivery in step.deliveries
        ):
            return step
        undo_deliveries(self.pending, step)
        return self._deliver(step, self.muted_edges)

    def _deliver(self, step: Step, muted: Set[tuple[int, int]]) -> Step:
        """Deliver anew what ``step`` sends along edges that are not ``muted``."""
        deliveries = []
        for delivery in step.deliveries:
            if delivery.edge is not None:
                before = self.pending[delivery.edge]
                g = None if (step.index, delivery.output_nr) in muted else delivery.gradient
                after = before if g is None else g if before is None else before + g
                self.pending[delivery.edge] = after
                delivery = delivery._replace(gradient=g, before=before, after=after)
            deliveries.append(delivery)
        return step._replace(deliveries=tuple(deliveries))

    def run(self, start: int) -> None:
        noted = run_of(self.call.roots)
        if noted is not None:
            noted.begun = True
        # where an error of ours came behind a node, that is not to run once more
        self._run(max(start, self._ran))
        self._ran = len(self.order)
        if noted is not None:
            noted.over = True

    def _run(self, start: int) -> None:
        if self._failure is not None and self._failure.at == start:
            if not self._is_inner:
                self._log.go(self._failure.end)
            self._raise_again(start)
        if self.muted_edges or self.muted_hooks:
            self.record(start, len(self.order), lambda step, seconds: True)
            return
        self._task.keep = self.call.keep  # nobody will go back
        self._freeing_from = min(start, self._freeing_from)
        self._program = current_mode()
        with by_program(), pass_mode(self.call.graph, self._task):
            if self._anomaly is None:
                self._task.run(start)
            else:
                run_watched(self._task, self._anomaly.check_nan, start)

    # what is shown

    def step_when_run(self, step: Step) -> Step:
        if not self._changed:
            return step
        if not any(map(self._was_changed, (*step.incoming, *_results(step)))):
            return step
        effects = self.effects.get(step.index)
        start, stop = self._place_of(step.index) if effects is None else effects[:2]
        hooked = [self._as_of(g, start) for g in step.hooked]
        for call in () if effects is None else effects.calls:
            if call.kind == "tensor":
                hooked[call.output_nr] = call.after[0]
            elif call.kind == "pre":
                hooked = list(call.after)
        return step._replace(
            incoming=tuple(self._as_of(g, start) for g in step.incoming),
            hooked=tuple(hooked),
            deliveries=tuple(
                Delivery(*delivery[:2], *(self._as_of(g, stop) for g in delivery[2:]))
                for delivery in step.deliveries
            ),
            captured=tuple((place, self._as_of(g, start)) for place, g in step.captured),
        )

    def entered(self, seed: Any) -> Any:
        return self._as_of(seed, 0)

    def _place_of(self, index: int) -> tuple[int, int]:
        """Return the place in the log when node ``index``, which left nothing there, ran."""
        later = next((number for number in self.effects if number > index), None)
        if later is not None:
            place = self.effects[later].start
        else:
            place = self._log.end if self._failure is None else self._failure.start
        return place, place

    def _was_changed(self, gradient: Any) -> bool:
        return gradient is not None and id(memory_of(array_of(gradient))) in self._changed

    def _as_of(self, gradient: Any, place: int) -> Any:
        if not self._was_changed(gradient):
            return gradient
        return self._log.as_of(array_of(gradient), place)

    # going back and forth

    def undo(self, step: Step) -> None:
        self._ran = step.index
        super().undo(step)
        for place, _ in step.captured:
            self._task.captured[place] = None
        effects = self.effects.get(step.index)
        if effects is not None and not self.read_only:
            self._go(effects, effects.start)

    def redo(self, step: Step) -> None:
        self._ran = step.index + 1
        super().redo(step)
        self._task.captured.update(step.captured)
        self.redo_state(step)

    def redo_state(self, step: Step) -> None:
        effects = self.effects.get(step.index)
        if effects is not None and not self.read_only:
            self._go(effects, effects.stop)

    def _go(self, effects: NodeEffects, place: int) -> None:
        self._log.go(place)
        self.disturbances += effects.user_code and effects.stop > effects.start

    def undo_all(self) -> None:
        self._log.go(0)
        self._ran = 0
        if (noted := run_of(self.call.roots)) is not None:
            noted.undone()

    def inputs(self, step: Step) -> list[tuple[Place, Any]]:
        places = self.places(step.node)
        return [
            (place, step.incoming[place.nr if isinstance(place, Port) else 0]) for place in places
        ]

    def places(self, node: Node) -> Sequence[Place]:
        """Return the input buffers of ``node``."""
        return self.plan.ports.get(node, ()) if node.ported else [node]

    def entering_seeds(self) -> list[Any]:
        """Return the gradients of the roots that take part in the pass, in their order."""
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
        other.effects = dict(self.effects)
        other.changed_pending = dict(self.changed_pending)
        other.read_only = ""
        return other

    def restarted(self, pending: Pending) -> Self:
        other = self.fork(pending)
        other.effects, other.changed_pending, other.changed_gradients = {}, {}, {}
        other._log = UndoLog()
        other.muted_edges, other.muted_hooks, other.intercept = set(), set(), None
        other._failure = None
        return other

    def replays(self, index: int) -> bool:
        # the graph that a pass makes is kept by its gradients, and is run in the order it was made
        return not self.call.graph and self._runs_alone(index)

    def _runs_alone(self, index: int) -> bool:
        node = self.order[index]
        return node.kind != LEAF and node.hooks is None and not runs_user_code(node)

    def repeat(self, step: Step) -> Sequence[Any] | None:
        if not self._runs_alone(step.index):
            return None
        again: list[Step] = []
        with self.state_before(step.index):
            given = {place: g for place, g in self.inputs(step) if g is not None}
            if self.call.graph:  # what is shown of one that was changed since is an array
                given = {place: Tensor.from_array(array_of(g)) for place, g in given.items()}
            other = self.fork(given)
            other.record(step.index, step.index + 1, collecting(again))
        return [delivery.gradient for delivery in again[0].deliveries]

    def agree(self, one: Any, other: Any) -> bool:
        if one is None or other is None:
            return one is other
        mine, theirs = array_of(one), array_of(other)
        return mine.dtype == theirs.dtype and mine.tobytes() == theirs.tobytes()

    def runs_user_code(self, index: int) -> bool:
        return runs_user_code(self.order[index])

    def unreduced(self, step: Step) -> Sequence[Any] | None:
        node = step.node
        if self.call.graph or node.to is None or runs_user_code(node):
            return None
        if all(g is None for g in step.hooked):
            return None
        with pass_mode(self.call.graph):
            result = node.backward(list(step.hooked) if node.ported else step.hooked[0], True)
        raw = (result,) if node.kind == ONE_EDGE else tuple(result)
        return [None if edge is None else g for edge, g in zip(node.edges, raw, strict=True)]

    def step_bytes(self, step: Step) -> int:
        size = STEP_BYTES  # gradients that share memory count twice
        for delivery in step.deliveries:
            g = delivery.gradient
            if g is not None:
                nbytes: int = g.nbytes
                size += nbytes if delivery.before is None else 2 * nbytes
        if step.node.kind == LEAF:
            size += sum(int(g.nbytes) for g in (step.before, step.after) if g is not None)
        effects = self.effects.get(step.index)
        return size if effects is None else size + effects.nbytes

    # the numbers of gradients

    def grad(self, index: int) -> Any:
        leaf: Any = self.order[index]
        return leaf.variable.grad

    def grad_before(self, index: int) -> Any:
        return self._grads[index]

    def set_grad(self, index: int, gradient: Any) -> None:
        leaf: Any = self.order[index]
        leaf.variable.grad = gradient

    def numbers(self, gradient: Any) -> NDArray[Any]:
        return array_of(gradient)

    def gradient(self, array: NDArray[Any], index: int, input_nr: int, *, grad: bool) -> Any:
        node: Any = self.order[index]
        dtype = node.variable.array.dtype if grad else node.output_dtype.dtype
        copy = np.array(array, dtype)
        return Tensor.from_array(copy) if grad or self.call.graph else copy

    @contextmanager
    def state_before(self, start: int) -> Iterator[None]:
        effects = self.effects
        last = next(reversed(effects), -1)  # they are in the order of the plan
        if last < start:
            yield
            return
        first = next(index for index in range(start, last + 1) if index in effects)
        with self._log.at(effects[first].start):
            yield

    def forget(self, start: int) -> None:
        self._ran = min(self._ran, start)
        if self._failure is not None:
            self._log.cut(self._failure.start)
            self._failure = None
        forgotten = [index for index in self.effects if index >= start]
        if forgotten:
            self._log.cut(min(self.effects[index].start for index in forgotten))
        for index in forgotten:
            for leaf, _ in self.effects[index].gradients:
                del self.changed_gradients[leaf][index]
            del self.effects[index]
            self.changed_pending.pop(index, None)

    # the end

    def release(self, stop: int | None = None) -> None:
        if not self.call.keep:
            whole = stop is None or stop >= len(self.order)
            if stop is None:
                stop = len(self.order)
            elif self.failed_in.startswith("post"):
                stop += 1  # the node whose result a hook refused has been called
            for node in self.order[: min(stop, self._freeing_from)]:
                if node not in self._task.ends:  # which grad() does not call
                    node.release()
            if whole:
                note_freed(self.call, self._task)

    def gradients(self) -> Gradients:
        return gradients(self.call, self._task)


def _gradient(node: Any) -> Any:
    """Return a copy of the ``.grad`` of the leaf behind ``node``."""
    gradient = node.variable.grad
    return None if gradient is None else gradient.array.copy()


def _results(step: Step) -> list[Any]:
    """Return the gradients that user code made at a node, as far as they are recorded."""
    sent = [delivery.gradient for delivery in step.deliveries] + [g for _, g in step.captured]
    return [g for g in (*step.hooked, *sent) if g is not None]
