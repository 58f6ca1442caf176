"""The driver of PyTorch's engine: halted in hooks behind each node, told of in steps.

The engine runs, so what is shown is what was computed.  What has happened is not undone: going back
moves in the record.  Going on in another way from there runs the engine again, from the sums that
wait at that place, on the graph, which was kept for that; ``.grad`` is put back first.  Its sums
begin with what had arrived, so they are added in the order of the first run.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cached_property, partial
from itertools import accumulate
from math import inf, prod
from types import MappingProxyType
from typing import Any, Final, Self, cast
from weakref import finalize, ref

import numpy as np
import torch
from numpy.typing import NDArray

from gradstep.contract.driver import (
    STEP_BYTES,
    BasicDriver,
    DeferredSteps,
    Nested,
    NodeEffects,
    OnSkipped,
    OnStep,
    Pending,
    Replay,
)
from gradstep.engines.pytorch.calls import (
    TorchCall,
    why_graph_is_freed,
    why_watched_only,
)
from gradstep.engines.pytorch.kept_graphs import free
from gradstep.engines.pytorch.order import leading_to, owner, plan_from, plan_of
from gradstep.engines.pytorch.private import (
    TensorBase,
    functions,
    grad_enabled,
    hook_tables,
    is_shared_with_processes,
    metadata_of,
    set_grad,
    unobserved,
)
from gradstep.engines.pytorch.stepping.engine_thread import EngineThread
from gradstep.engines.pytorch.stepping.leaf_gradients import State, has_late_hooks
from gradstep.engines.pytorch.stepping.observed_engine import (
    HOOKS_ONCE_MORE,
    NodeRun,
    ObservedEngine,
)
from gradstep.engines.pytorch.stepping.replay import NodeReplay, call_in_pass, places_of, replays
from gradstep.engines.pytorch.stepping.steps import StepMaker
from gradstep.engines.pytorch.tensors import (
    copy_of,
    describe_later,
    differ,
    extent_of,
    numbers_of,
)
from gradstep.graph.statistics_table import StatisticsTable
from gradstep.guest.collector import collector_paused, collector_slowed
from gradstep.guest.fence import fenced, is_ours, run_of, tell
from gradstep.records import LEAF, Extent, Interceptor, Place, Step

RELIEVED: Final = 1 << 24
"""Bytes of gradients at which a pass whose gradients are dropped is relieved of them."""
_HAS_RUN: Final = "this pass is read-only: it has run"
_NOT_KEPT: Final = "this pass is read-only: --no-replay lets PyTorch free its graph"
_MAKES_GRAPH: Final = (
    "this pass is read-only: it makes a graph (create_graph=True), and continuing in another "
    "way would create a different one"
)
_REWRITTEN: Final = "parameters were changed by a hook in this pass"
_MOST_IDLE: Final = 20


class TorchDriver(BasicDriver):
    """Drives PyTorch's engine through ``call``.

    Args:
        halting: whether the engine waits behind a node until the next one is asked for; otherwise
            the whole pass runs as soon as the first one is, in the thread that asks.
        keep: whether a pass that halts keeps the graph, so that it can go on in another way.
    """

    restore_note = ".grad is restored; their other changes are not"

    program_stays = True

    _idle_runs = 0  # of the engine, one after the other, that came to no further node

    def __init__(self, call: TorchCall, *, halting: bool = False, keep: bool = True) -> None:
        super().__init__()
        self.call = call
        roots: Sequence[Any] = call.roots
        plan = plan_of(roots)
        if call.inputs:
            wanted = [tensor.edge for tensor in call.inputs if tensor.edge is not None]
            plan = plan_from((root.edge for root in roots), leading_to(wanted, plan))
        self.plan = plan
        self.read_only = ""
        if halting:
            self.read_only = why_watched_only(call, plan.order) or ("" if keep else _NOT_KEPT)
        is_watched = bool(self.read_only)
        if call.graph:
            self.read_only = self.read_only or _MAKES_GRAPH
        self._engine = ObservedEngine(
            call,
            plan.order,
            _pending_of(self),
            thread=EngineThread(makes_graph=call.graph) if halting else None,
            # a report reads what the forward pass saved, in a pass that runs once too
            retains=halting and keep and not why_graph_is_freed(call, plan.order),
        )
        if self._engine.thread is not None:
            finalize(self, fenced("the end of a pass")(self._engine.thread.drop)).atexit = False
        self._steps = StepMaker(call, self._engine, watched=is_watched)
        self.changed_gradients = self._steps.changed_gradients
        self._due: tuple[int, int, OnStep] | None = None  # nodes that ran, whose Steps are wanted
        self._due_runs = 0  # how many of the runs are theirs
        self._around = ExitStack()
        self._outer: ObservedEngine | None = None
        self._hands_out_early = False
        self._most_bytes = sys.maxsize
        if not self._engine.retains:
            with collector_paused():
                for node in self.order:  # the pass frees what is to be told after it
                    node.saved()
        if (noted := run_of(call.arguments.outputs)) is not None:
            noted.release = self.release

    @property
    def order(self) -> Sequence[Any]:
        """The nodes in the order in which they run; without ``halting`` that is foretold before the
        pass, and real after it."""
        return self._engine.order

    @property
    def nested(self) -> list[Nested]:
        """The passes that ran inside the node that is running."""
        return self._engine.nested

    @property
    def intercept(self) -> Interceptor | None:
        """Who is asked about each of them."""
        return self._engine.intercept

    @intercept.setter
    def intercept(self, intercept: Interceptor | None) -> None:
        self._engine.intercept = intercept

    @property
    def rerunning(self) -> Self:
        return self

    @property
    def control(self) -> Self:
        return self

    def only_forward(self) -> None:
        self._hands_out_early = True

    def tell_of(
        self,
        runs: Mapping[Any, NodeRun],
        before: Mapping[Any, State],
        inside: Mapping[Any, tuple[Nested, ...]] = MappingProxyType({}),
        result: Any = (),
        error: BaseException | None = None,
    ) -> None:
        """Have the Steps tell of a pass that has run, by node of PyTorch: what each did, in their
        order, what each leaf held ``before``, the passes ``inside``, and what came of it."""
        of = self.call.roots[0].graph.nodes
        self._engine.has_run_as(
            {of[node]: run for node, run in runs.items()},
            {of[node]: state for node, state in before.items()},
            {of[node]: passes for node, passes in inside.items()},
            result,
            error,
        )
        self.read_only = _HAS_RUN

    def halt_within(self, nbytes: int) -> None:
        self._most_bytes = nbytes

    def host(self, body: Callable[[], Any]) -> Any:
        """Run ``body``, which drives the pass; the engine runs in the thread that calls this."""
        thread = self._engine.thread
        return body() if thread is None else thread.host(partial(self._let_finish, body))

    def _let_finish(self, body: Callable[[], Any]) -> Any:
        """Run ``body``; where that ends by an error of ours, the engine that waits goes on."""
        try:
            return body()
        except Exception as error:
            if is_ours(error):
                self._engine.finish_halted()
            raise

    # running

    def record(
        self,
        start: int,
        stop: int,
        on_step: OnStep,
        on_skipped: OnSkipped | None = None,
        deferred: DeferredSteps | None = None,
    ) -> None:
        """Run the pass up to node ``stop``, handing each Step and its seconds to ``keep``: here,
        a node that runs unseen cannot run again by itself, so none is passed over.

        Raises:
            BaseException: whatever a node or a hook raised.
        """
        if self._outer is not None:
            self._around.enter_context(self._outer.state_before(start))
            self._outer = None
        if not self.order:  # no node leads to what was asked for, and the program is told so
            self._engine.finish(start)
        with collector_slowed():  # what grows is the record; looked through, it takes twice as long
            if deferred is not None and self._engine.thread is not None and not self.muted_edges:
                self._run_on(start, stop, deferred)
            else:
                self.catch_up()
                self._record(start, stop, on_step)

    def _record(self, start: int, stop: int, on_step: OnStep) -> None:
        index = start
        if self._hands_out_early:
            self._engine.relieve = partial(self._relieve, on_step)
        try:
            while index < stop:
                if not self._has_run(index):
                    self._advance(index, stop)
                    self._synchronize()
                    index = max(index, self._engine.taken)
                index, goes_on = self._make_steps(index, stop, on_step)
                if not goes_on:
                    return
        finally:
            self._engine.relieve = None  # which keeps this driver

    def _relieve(self, on_step: OnStep) -> None:
        """Make the Steps of the nodes that have run so far, while the pass goes on, where their
        gradients would take too much until it ends."""
        engine = self._engine
        start, stop = engine.taken, engine.taken + len(engine.runs)
        if self._bytes_of_runs(start, stop) > RELIEVED and engine.is_as_foretold():
            self._synchronize()
            engine.taken, _ = self._make_steps(start, stop, on_step)

    def _make_steps(self, index: int, stop: int, on_step: OnStep) -> tuple[int, bool]:
        """Make the Steps of nodes that have run; return up to where, and whether to go on."""
        # entered once for many nodes: it takes as long as a small one
        with unobserved(), grad_enabled(self.call.graph):
            while index < stop:
                run = self._engine.runs.pop(index, None)
                if run is not None:
                    step = self._steps.of_run(index, run, self.muted_edges)
                    self.disturbances += step.before is not None  # the engine added in place
                    goes_on = on_step(step, self._engine.seconds(index, run[2]))
                elif self._has_run(index):
                    goes_on = on_step(self._steps.unreached(index), 0.0)
                else:
                    break
                index += 1
                if not goes_on:
                    return index, False
        return index, True

    def _run_on(self, start: int, stop: int, deferred: DeferredSteps) -> None:
        """Run the pass up to node ``stop``; what the hooks were given is all that is kept of it
        until somebody asks."""
        index = start
        while index < stop:
            if not self._engine.has_run(index):
                self._advance(index, stop)
            first, runs = index, self._engine.runs
            while index < stop and (index in runs or self._engine.has_run(index)):
                index += 1
            begin = first if self._due is None else self._due[0]
            self._due = begin, index, deferred.on_step
            self._due_runs += sum([number in runs for number in range(first, index)])
            if not deferred.ran(index - first, self._bytes_of_runs(first, index)):
                return

    def _bytes_of_runs(self, start: int, stop: int) -> int:
        """Return at most what the gradients of nodes that have run take."""
        runs = self._engine.runs
        try:
            with unobserved():  # a mode of the program's sees what a nested tensor is asked
                sizes: list[int] = [
                    g.nbytes
                    for index in range(start, stop) if index in runs
                    for g in runs[index][0] if g is not None and type(g) is not ref
                ]  # fmt: skip
            return sum(sizes) + STEP_BYTES * (stop - start)
        except (RuntimeError, NotImplementedError):  # one has no memory of its own, or in parts
            return sys.maxsize

    def measure(self) -> None:
        self._hands_out_early = False  # that would be measured, too
        self._engine.measure()

    def catch_up(self) -> None:
        """Make the Steps of nodes that ran when nobody asked for them."""
        if self._due is not None:
            (start, stop, on_step), self._due, self._due_runs = self._due, None, 0
            self._synchronize()
            with collector_slowed():
                self._make_steps(start, stop, on_step)

    @property
    def pending(self) -> Pending:
        """The sums that wait."""
        self.catch_up()
        return self._steps.pending

    @property
    def effects(self) -> dict[int, NodeEffects]:
        """What hooks of the program's changed, and which passes ran inside, by index."""
        self.catch_up()
        return self._steps.effects

    def inner_passes(self) -> Iterable[Nested]:
        return [inner for passes in self._engine.inside.values() for inner in passes]

    def added(self, index: int) -> Any:
        return self._steps.added(index)

    def _advance(self, index: int, stop: int) -> None:
        engine = self._engine
        if engine.thread is not None:
            arriving = self._arriving
            stop = min(
                stop, max(index + 1, bisect_right(arriving, arriving[index] + self._most_bytes))
            )
        reached = engine.taken, len(engine.runs)
        engine.advance(index, stop, passed=self._due_runs, muted=self.muted_edges)
        idle = (engine.taken, len(engine.runs)) == reached and not self._has_run(index)
        self._idle_runs = self._idle_runs + 1 if idle else 0
        if self._idle_runs > _MOST_IDLE:
            raise RuntimeError(
                f"PyTorch's engine does not get to node #{index + 1}; this is a bug in "
                "gradstep, please report it"
            )

    @cached_property
    def _arriving(self) -> list[int]:
        """The bytes of one gradient for each input of the nodes before each node."""
        sizes = (
            sum([prod(shape) for shape in node.output_shapes if shape]) * node.output_dtype.itemsize
            for node in self.order
        )
        return [0, *accumulate(sizes)]

    def _has_run(self, index: int) -> bool:
        """Return whether node ``index`` has run, or never will; all before it are known."""
        if self._engine.has_run(index):
            return True
        # one to which only muted edges lead: the engine does not tell that it is left out
        pending = self._steps.pending
        return (
            bool(self.muted_edges)
            and self._engine.diverged
            and not any(pending.get(place) is not None for place in places_of(self.order[index]))
        )

    def _synchronize(self) -> None:
        """Wait for what the engine has started on GPUs: this thread may use other streams, and may
        be on another device."""
        for device in self._devices:
            torch.cuda.synchronize(device)

    @cached_property
    def _devices(self) -> list[torch.device]:
        """The GPUs on which nodes of the pass run."""
        if not torch.cuda.is_initialized():
            return []
        used = {described.device for node in self.order for described in metadata_of(node.origin)}
        return [device for device in used if device.type == "cuda"]

    def run(self, start: int) -> None:
        """Run everything from plan node ``start`` on, keeping no record."""
        if self.muted_edges or (self._engine.diverged and self.call.is_grad):
            self.record(start, len(self.order), lambda step, seconds: True)
            start = len(self.order)
        if not self.muted_edges or self.call.is_grad:
            self._engine.finish(start)

    def in_engine_thread(self, work: Callable[[], Any], *, halted: bool = True) -> None:
        thread = self._engine.thread
        if thread is not None and thread.serves and (halted or not self._engine.is_halted):
            thread.start(work)
        else:
            work()

    # going back, and on in another way

    def undo(self, step: Step) -> None:
        super().undo(step)
        for place, _ in step.captured:
            self._steps.captured[place] = None

    def redo(self, step: Step) -> None:
        super().redo(step)
        self._steps.captured.update(step.captured)

    def forget(self, start: int) -> None:
        """Forget what nodes from ``start`` on did; what runs next goes on from what waits there."""
        self._engine.restore(start)
        self._steps.forget(start)
        self._engine.diverge()

    def undo_all(self) -> None:
        """Give every leaf the ``.grad`` that it had before the pass."""
        self.catch_up()
        if self.is_rewritten():
            tell(f"{_REWRITTEN}, and stay so: only .grad is put back")
        self._engine.restore(0)
        self._around.close()
        if (noted := run_of(self.call.arguments.outputs)) is not None:
            noted.undone()

    def states_before(self) -> Iterator[tuple[torch.Tensor, Any, Any, int]]:
        """Yield each leaf that the pass added to, as
        :meth:`ObservedEngine.states_before` does."""
        self.catch_up()
        return self._engine.states_before(0)

    def is_rewritten(self) -> bool:
        """Return whether the pass has changed leaves themselves."""
        return self._engine.is_rewritten(0)

    def fork(self, pending: Pending) -> Replay:
        index = self._engine.index
        return NodeReplay(
            self.call, self.order, dict(pending), index, self.muted_edges, self._steps.wanted
        )

    def restarted(self, pending: Pending) -> Self:
        other = type(self)(self.call)
        other._engine = self._engine.restarted(_pending_of(other))
        other._steps = StepMaker(self.call, other._engine)
        other._steps.pending = {**dict.fromkeys(self.pending), **pending}
        other.changed_gradients = other._steps.changed_gradients
        other._outer = self._engine
        return other

    # what is shown

    def settle(self, gradients: Sequence[Any]) -> Callable[[], StatisticsTable] | None:
        graph = self.call.roots[0].graph
        if self._engine.retains or self.call.inputs or graph.origins.ops is not None:
            return None  # values are still to be read, or other nodes than those that ran
        graph.settle(self.order, self.call.roots)
        seeds = [seed if seed is None else copy_of(seed) for seed in self.call.seeds]
        self.call = self.call._replace(seeds=tuple(seeds))
        return describe_later(gradients)

    def step_when_run(self, step: Step) -> Step:
        return self._steps.step_when_run(step)

    def places(self, node: Any) -> Sequence[Place]:
        return places_of(node)

    def entering_seeds(self) -> Sequence[Any]:
        return [
            seed
            for seed, root in zip(self.call.seeds, self.call.roots, strict=True)
            if owner(root.edge) in self._engine.index
        ]

    def step_bytes(self, step: Step) -> int:
        return self._steps.bytes_of(step, again=not self._hands_out_early)

    @property
    def _repeats(self) -> bool:
        """Whether nodes can run again: some exchange gradients with other processes."""
        return self._engine.retains and not is_shared_with_processes()

    def replays(self, index: int) -> bool:
        node = self.order[index]
        # the graph that a pass makes is kept by its gradients, and is run in the order it was made
        if self.call.graph or not self._repeats:
            return False
        if index in self.effects or index in self._engine.hooked or not replays(node):
            return False
        return not self._rewritable or not any(
            kept is not None and self._is_rewritable(kept.extent) for _, kept, _ in node.saved()
        )

    @cached_property
    def _rewritable(self) -> list[tuple[int, int]]:
        """Where memory begins and ends that the pass may change after a node has saved it: each
        ``.grad``, and leaves with hooks, as that of an optimizer."""
        leaves = [node.origin.variable for node in self.order if node.kind == LEAF]
        changed = [leaf for leaf in leaves if any(hook_tables(leaf))]
        changed += [held for held, *_ in self._engine.gradients.first.values() if held is not None]
        extents = map(extent_of, changed)
        return sorted(
            (extent.storage, extent.storage + extent.nbytes) for extent in extents if extent.storage
        )

    def _is_rewritable(self, extent: Extent) -> bool:
        place = bisect_right(self._rewritable, (extent.storage or 0, inf))
        return place > 0 and (extent.storage or 0) < self._rewritable[place - 1][1]

    def why_not_restartable(self, start: int) -> str:
        if not self._engine.has_all_hooks(start):
            return "a hook removed itself in this pass, and would not be called again"
        leaves = (node.origin.variable for node in self.order[start:] if node.kind == LEAF)
        return HOOKS_ONCE_MORE if any(map(has_late_hooks, leaves)) else ""

    def why_not_replayable(self, start: int) -> str:
        if self._engine.ran_unseen:
            return "a pass ran inside this one in a thread of the GPU's, and cannot be undone"
        is_rewritten = self._engine.is_rewritten(start)
        why = _REWRITTEN if is_rewritten else self._engine.why_not_restored(start)
        return why and f"{why}, so what has run cannot run again"

    def repeat(self, step: Step) -> Sequence[Any] | None:
        engine, node = self._engine, cast("Any", step.node)
        if node.kind == LEAF or node in engine.ends or node.opaque or not self._repeats:
            return None
        if not any(g is not None for g in step.hooked):
            return None  # the engine does not call it with nothing
        if node.is_function and any(g is None for g in step.hooked):
            return None  # whether it is given zeros instead cannot be read
        effects = self._steps.effects.get(step.index)
        if effects is not None and effects.nested:
            return None  # a pass inside would add to .grad once more
        if node.is_packed():
            return None  # hooks of the program's, such as a checkpoint's, unpack only once
        if step.index in engine.hooked:
            return None  # what it sends is not what hooks made of it
        draws = torch.random.fork_rng() if node.is_function else nullcontext()
        try:
            with draws:
                return call_in_pass(node, step.hooked, engine.index)
        except RuntimeError as error:
            if "inplace operation" in str(error):  # what it saved was changed since
                return None
            raise

    @contextmanager
    def repeating(self) -> Iterator[None]:
        # entered once for many nodes: it takes as long as a small one
        with unobserved(), grad_enabled(self.call.graph):
            yield

    def agree(self, one: Any, other: Any) -> bool:
        return not differ(one, other)  # what cannot be read is no untruth

    def runs_user_code(self, index: int) -> bool:
        node = self.order[index]
        return bool(node.is_function) or node.is_packed()

    def kept_bytes(self) -> int:
        if not self._engine.retains or self.call.keep:
            return 0
        sizes = {}
        for node in self.order:
            for name, kept, _ in node.saved():
                if kept is not None:
                    extent = kept.extent
                    sizes[extent.storage or (node, name)] = extent.nbytes
        return sum(sizes.values())

    # the numbers of gradients

    def grad(self, index: int) -> Any:
        with unobserved():
            return self.order[index].origin.variable.grad

    def grad_before(self, index: int) -> Any:
        return self._engine.gradients.at_first(index)

    def summed_up(self, step: Step) -> Any:
        return self._steps.summed_up(step)

    def set_grad(self, index: int, gradient: Any) -> None:
        set_grad(self.order[index].origin.variable, gradient)

    def numbers(self, gradient: Any) -> NDArray[Any]:
        return numbers_of(gradient)

    def gradient(self, array: NDArray[Any], index: int, input_nr: int, *, grad: bool) -> Any:
        origin = self.order[index].origin
        like = origin.variable if grad else metadata_of(origin)[input_nr]
        return TensorBase.to(functions.from_numpy(np.array(array)), like.device, like.dtype)

    # the end

    def gradients(self) -> Any:
        """Return what the call returns to the program: of ``grad``, the gradients."""
        result = self._engine.result
        if not self.call.is_grad or not self._engine.diverged:
            return result
        # the last run does not give what was taken at nodes that did not run again
        places = [tensor.edge for tensor in self.call.inputs]
        given = result or [None] * len(places)
        return tuple(
            self._steps.captured.get(place) if g is None else g
            for place, g in zip(places, given, strict=True)
        )

    def retain_graph(self) -> None:
        """Keep what nodes saved, whatever the call says."""
        self._engine.retains = True

    def close(self) -> None:
        if self._engine.thread is not None:
            self._engine.thread.close()

    def release(self, stop: int | None = None) -> None:
        """Let go of the graph, as far as that can be done, as the plain pass would have."""
        engine = self._engine
        self.close()
        if engine.retains and not self.call.keep:
            ran = [*self.order[:stop], *(self.order[index] for index in engine.unheard)]
            nodes = [node.origin for node in dict.fromkeys(ran) if node not in engine.ends]
            free(self.call, nodes, whole=stop is None or stop >= len(self.order))


def _pending_of(driver: TorchDriver) -> Callable[[], Pending]:
    """Return what tells the sums that wait, and those that ``grad`` has taken away at an end; the
    engine, halted, does not keep ``driver`` alive."""
    known = cast("Callable[[], TorchDriver]", ref(driver))
    return lambda: known().pending | known()._steps.taken_at_ends()
