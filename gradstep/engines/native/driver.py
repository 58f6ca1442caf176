"""The driver of this package's own engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from time import perf_counter
from types import TracebackType
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from autograd_core.autograd.anomaly_mode import run_watched, watched
from autograd_core.autograd.call import BackwardCall, gradients, note_freed, pass_mode, start
from autograd_core.autograd.grad_mode import Anomaly, Mode, current_mode, undo_log
from autograd_core.autograd.node import LEAF, ONE_EDGE, Node, resolve
from autograd_core.autograd.packed import nodes_with_packed
from autograd_core.autograd.undo_log import UndoLog
from autograd_core.tensor import Tensor
from gradstep.contract.driver import (
    STEP_BYTES,
    BasicDriver,
    DeferredSteps,
    Nested,
    NodeEffects,
    OnSkipped,
    OnStep,
    Pending,
    collecting,
    taken_by,
    undo_deliveries,
)
from gradstep.engines.native.arrays import array_of, share
from gradstep.engines.native.changes import Changes, gradient_at, nodes_of_user, runs_user_code
from gradstep.engines.native.hooks import Watch
from gradstep.guest.fence import by_program, run_of, within_fence
from gradstep.records import Gradients, Interceptor, Place, Step

_FEWEST = 4  # nodes that are worth a loop of their own
_MOST = 512  # so that memory is freed on the way, and a pass can be interrupted
_UNSEEN = 0.01  # seconds that nobody waits for


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
        self.order, self.plan = self._task.order, self._task.plan
        self.pending: Pending = self._task.pending
        for seed in call.seeds:
            share(seed)
        self.effects: dict[int, NodeEffects] = {}
        # whether to guard what is shown from later changes
        self._guards = call.graph or bool(nodes_of_user(self.order))
        self._freeing_from = len(self.order)  # from there on the pass itself freed what was saved
        self.intercept: Interceptor | None = None
        self.nested: list[Nested] = []
        self._failure: _Failure | None = None
        self._goes_back = True
        self.read_only = ""
        self._grads = {
            index: gradient_at(node) for index, node in enumerate(self.order) if node.kind == LEAF
        }
        outer = undo_log()
        self._log = UndoLog() if outer is None else outer
        self._is_inner = outer is not None
        self._changes = Changes(self._log, self.order)
        self._program: Mode | None = None  # the mode around the pass
        self._ran = 0  # nodes of the pass, as far as it came
        self._ahead: Sequence[Step] = ()  # what it has done already, before anybody asked for it
        if (noted := run_of(call.roots)) is not None:
            noted.release, noted.gradients = self.release, self.gradients
            noted.finish = self._finish

    @property
    def program_stays(self) -> bool:
        return bool(self.read_only)

    @property
    def rerunning(self) -> Self:
        return self

    def why_not_replayable(self, start: int) -> str:
        return ""

    def why_not_restartable(self, start: int) -> str:
        return ""

    def repeating(self) -> AbstractContextManager[None]:
        return nullcontext()

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
        for step in self._ahead[start:stop]:
            self.redo(step)
            if not on_step(step, 0.0):
                return
        start = max(start, min(stop, len(self._ahead)))
        if start == stop and self._ahead and stop < len(self.order):
            return
        self._program = current_mode()
        self._changes.begin()
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
        for index in range(start, stop):
            node = self.order[index]
            if node.kind == LEAF or (node.notes is not None and node.notes.hooks is not None):
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
        # The order is the meaning: what raised before raises again before anything is noted, the
        # place in the log comes before all that is written there, and memory is marked as shared
        # before code of the program's can change it.
        self._raise_again(index)
        self.nested = []
        log, start = self._log, self._log.place()
        if users:
            self._guards = True
            for place in self.places(node):
                if self.pending[place] is not None:
                    share(self.pending[place])
        try:
            watch = Watch(node, {id for at, id in self.muted_hooks if at == index})
            self._changes.keep(node, users, makes_graph=self.call.graph)
        except Exception:  # an error of ours, which is no failure of the node
            log.go(start)
            log.cut(start)
            raise
        try:
            around = self._changes.user_code(self._program, self.intercept)
            with around if users else nullcontext(), watch.acting():
                step = next(steps)
        except BaseException as error:
            self.failed_in, end = watch.running, log.place()
            if isinstance(error, Exception) and not isinstance(error, MemoryError):
                self._failure = _Failure(index, error, error.__traceback__, start, end)
            # what becomes of a pass inside another one is up to the code around it
            if self._goes_back and not self._is_inner:
                log.go(start)
                if self._failure is None:
                    log.cut(start)
            raise
        with within_fence("what the node changed"):  # it ran: no error of ours undoes that
            self._note_effects(step, start, users, watch)
        return step

    def _note_effects(self, step: Step, start: int, users: bool, watch: Watch) -> None:
        """Keep what the node of ``step`` changed, as the log has it since ``start``."""
        index, nested = step.index, tuple(self.nested)
        self.effects[index] = effects = self._changes.effects(step, start, users, watch, nested)
        for leaf, gradient in effects.gradients:
            self.changed_gradients.setdefault(leaf, {})[index] = gradient
        if users and effects.stop > start:
            self.disturbances += 1
            self.changed_pending[index] = self._changes.of_pending(self.pending, start)

    def _raise_again(self, index: int) -> None:
        """Raise what node ``index`` raised before, if it did."""
        failure = self._failure
        if failure is not None and failure.at == index:
            raise failure.error.with_traceback(failure.traceback)

    def _without_muted(self, step: Step) -> Step:
        """Let ``step`` send nothing along the edges that are muted."""
        muted = [(step.index, sent.output_nr) in self.muted_edges for sent in step.deliveries]
        if not any(muted):
            return step
        undo_deliveries(self.pending, step)
        deliveries = []
        for delivery, is_muted in zip(step.deliveries, muted, strict=True):
            if delivery.edge is not None:
                before = self.pending[delivery.edge]
                g = None if is_muted else delivery.gradient
                after = before if g is None else g if before is None else before + g
                self.pending[delivery.edge] = after
                delivery = delivery._replace(gradient=g, before=before, after=after)
            deliveries.append(delivery)
        return step._replace(deliveries=tuple(deliveries))

    def run(self, start: int) -> None:
        noted = run_of(self.call.roots)
        if noted is not None:
            noted.begun = True
        if self._ahead[self._ran :]:
            self.record(self._ran, len(self._ahead), lambda step, seconds: True)
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
        if start == len(self.order) > 0:
            return  # nothing is left, and what has run is kept for who goes back
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
        if not self._changes.concern(step):
            return step
        return self._changes.step_when_run(step, self._effects_of(step.index))

    def entered(self, seed: Any) -> Any:
        return self._changes.as_of(seed, 0)

    def _effects_of(self, index: int) -> NodeEffects:
        """Return the effects of a node; of one that left nothing in the log, where it ran."""
        if index in self.effects:
            return self.effects[index]
        end = self._log.end if self._failure is None else self._failure.start
        later = (effects.start for number, effects in self.effects.items() if number > index)
        place = next(later, end)
        return NodeEffects(place, place)

    # going back and forth

    def go_before(self, steps: Sequence[Step]) -> None:
        """Go back before ``steps``, all that it has done: they are told of again, not run."""
        self._ahead = steps
        for step in reversed(steps):
            self.undo(step)
        if (noted := run_of(self.call.roots)) is not None:
            noted.over = False

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
        other.read_only, other._ahead = "", ()
        return other

    def restarted(self, pending: Pending) -> Self:
        other = self.fork(pending)
        other.effects, other.changed_pending, other.changed_gradients = {}, {}, {}
        other._log = UndoLog()
        other._changes = Changes(other._log, other.order)
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
            given = {place: g for place, g in taken_by(step, self.places) if g is not None}
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
        self._ahead = self._ahead[:start]
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
