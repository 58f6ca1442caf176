"""The driver of PyTorch's engine: halted in hooks behind each node, told of in steps.

The engine runs, so the program's hooks and custom Functions run once, in their order, and what is
shown is what was computed.  What nodes wait for is added up beside the engine, so that a difference
shows what hooks changed.

What has happened is not undone: going back moves in the record.  Going on in another way from there
runs the engine again, from the sums that wait at that place, on the graph, which was kept for that;
``.grad`` is put back first.  Its sums begin with what had arrived, so they are added in the order
of the first run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from math import inf
from time import perf_counter
from typing import Any, Final, Self, cast
from weakref import ref

import numpy as np
import torch
from numpy.typing import NDArray
from torch.autograd.graph import GradientEdge

from autograd_core.autograd.call import BackwardCall, Interceptor
from autograd_core.autograd.node import LEAF, Port
from autograd_core.autograd.step import Delivery, Step
from autograd_core.dag.addresses import step_number
from autograd_core.dag.collector import collector_paused, collector_slowed
from autograd_core.debug.history.driver_protocol import (
    STEP_BYTES,
    Keep,
    Later,
    Nested,
    NodeEffects,
    Pass,
    Pending,
    Place,
    Replay,
)
from autograd_core.debug.history.hooks import HookCall
from autograd_core.engines.attach import tell
from autograd_core.engines.pytorch.entry import Arguments, carry_out
from autograd_core.engines.pytorch.kept_graphs import mark_as_freed
from autograd_core.engines.pytorch.nodes import TorchLeaf, TorchNode
from autograd_core.engines.pytorch.order import leading_to, owner, plan_from, plan_of
from autograd_core.engines.pytorch.private import (
    hook_nodes,
    hook_tables,
    metadata_of,
    unobserved,
)
from autograd_core.engines.pytorch.stepping.engine_thread import Abort, EngineThread
from autograd_core.engines.pytorch.stepping.replay import (
    NodeReplay,
    call_node,
    deliver,
    places_of,
    replays,
)
from autograd_core.engines.pytorch.stepping.watch_only import (
    is_shared_with_processes,
    why_watched_only,
)
from autograd_core.engines.pytorch.tensors import (
    array_of,
    is_passed_on,
    nbytes_of,
    numbers_of,
    same_bits,
    version_of,
)

_UNKNOWN: Final = "or tensor hook"  # which of the two it was cannot be seen
_NOT_KEPT: Final = "this pass is read-only: --no-replay lets PyTorch free its graph"
_SLICE = 0.1  # seconds after which a session hears how far the engine is, and may stop it


_Run = tuple[Sequence[Any], tuple[Any, ...], float, Any]
"""A node that has run: what it sent, what arrived after its hooks, its seconds, and of a leaf the
``.grad`` afterwards; no named tuple, which takes as long to make as all else in a hook."""

# the named tuples of the record, made in a third of the time that their names take
_made_delivery: Final = cast("Callable[[Any], Delivery]", partial(tuple.__new__, Delivery))
_made_step: Final = cast("Callable[[Any], Step]", partial(tuple.__new__, Step))


class TorchDriver:
    """Drives PyTorch's engine through ``call``.

    Args:
        halting: whether the engine waits behind a node until the next one is asked for; otherwise
            the whole pass runs as soon as the first one is, in the thread that asks.
        keep: whether a pass that halts keeps the graph, so that it can go on in another way.

    Attributes:
        order: the nodes in the order in which they run; without ``halting`` that is foretold
            before the pass, and real after it.
    """

    put_back = ".grad is restored; their other changes are not"

    def __init__(self, call: BackwardCall, *, halting: bool = False, keep: bool = True) -> None:
        self.call = call
        roots: Sequence[Any] = call.roots
        plan = plan_of(roots)
        if call.inputs:
            plan = plan_from(
                (root.edge for root in roots),
                leading_to([each.edge for each in call.inputs if each.edge is not None], plan),
            )
        self.plan = plan
        self.order: Sequence[Any] = plan.order
        self._index = {node: index for index, node in enumerate(self.order)}
        self._leaf_nodes = [node for node in self.order if isinstance(node, TorchLeaf)]
        self._wanted_places = {x.edge for x in call.inputs} if call.is_grad else set()
        self._ends = self._find_ends()
        self._pending: Pending = {place: None for node in self.order for place in places_of(node)}
        for root, seed in zip(roots, call.seeds, strict=True):
            if owner(root.edge) in self._index:
                deliver(self._pending, 0, root.edge, seed)
        self._effects: dict[int, NodeEffects] = {}
        self._inside: dict[int, tuple[Nested, ...]] = {}  # by index, passes that ran there
        self._due: tuple[int, int, Keep] | None = None  # nodes that ran, whose Steps are wanted
        self._due_runs = 0  # how many of the runs are theirs
        self.changed_gradients: dict[int, dict[int, Any]] = {}
        self.waited: dict[int, tuple[tuple[Place, Any], ...]] = {}
        self.disturbances = 0
        self.failed_in = ""
        self.muted_edges: set[tuple[int, int]] = set()
        self.muted_hooks: set[tuple[int, int]] = set()
        self.intercept: Interceptor | None = None
        self.nested: list[Nested] = []
        self.read_only = ""
        if halting:
            self.read_only = why_watched_only(call, self.order) or ("" if keep else _NOT_KEPT)
        self._thread = EngineThread() if halting else None
        self._elsewhere: EngineThread | None = None  # runs what does not halt
        self._around = ExitStack()
        self._outer: TorchDriver | None = None
        self._retains = halting and not self.read_only
        self._sizes: dict[int, int] = {}  # by index, what a step takes
        self._runs: dict[int, _Run] = {}  # of nodes that have run, and of which no Step was made
        self._leaves: dict[int, tuple[Any, Any]] = {}  # by index, .grad before: itself, a copy
        self._versions: dict[int, int] = {}  # by index, that of the .grad which a leaf's step shows
        self._told = False  # that one of them was changed since
        self._captured: dict[Any, Any] = {}
        self._result: Any = ()
        self._enough = inf  # runs at which the engine halts
        self._deadline = inf  # or when it halts
        self._ended = 0.0  # the last node
        self._halted = self._done = self._diverged = self._silent = False
        self._error: BaseException | None = None
        if not self._retains:
            with collector_paused():
                for node in self.order:  # the pass frees what is to be told after it
                    node.saved()

    def _find_ends(self) -> set[TorchNode]:
        """Return the nodes at which ``grad`` takes away what arrives, and which do not run."""
        if not self.call.is_grad:
            return set()
        inputs = {owner(each.edge) for each in self.call.inputs if each.edge is not None}
        return {
            node
            for node in inputs
            if not any(edge is not None and owner(edge) in self._index for edge in node.edges)
        }

    def host(self, body: Callable[[], Any]) -> Any:
        """Run ``body``, which drives the pass; the engine runs in the thread that calls this."""
        return body() if self._thread is None else self._thread.host(body)

    # running

    def execute(self, index: int) -> Step:
        """Run plan node ``index`` and tell what it did."""
        steps: list[Step] = []
        self.record(index, index + 1, lambda step, seconds: not steps.append(step))  # type: ignore[func-returns-value]
        return steps[0]

    def record(
        self,
        start: int,
        stop: int,
        keep: Keep,
        passed: Pass | None = None,
        later: Later | None = None,
    ) -> None:
        """Run the pass up to node ``stop``, handing each Step and its seconds to ``keep``: here,
        a node that runs unseen cannot run again by itself, so none is passed over.

        Raises:
            BaseException: whatever a node or a hook raised.
        """
        if self._outer is not None:
            self._around.enter_context(self._outer.state_before(start))
            self._outer = None
        with collector_slowed():  # what grows is the record; looked through, it takes twice as long
            if later is not None and self._thread is not None and not self.muted_edges:
                self._run_on(start, stop, later)
            else:
                self.catch_up()
                self._record(start, stop, keep)

    def _record(self, start: int, stop: int, keep: Keep) -> None:
        index = start
        while index < stop:
            if not self._is_known(index):
                self._advance(index, stop)
                self._synchronize()
            index, goes_on = self._make_steps(index, stop, keep)
            if not goes_on:
                return

    def _make_steps(self, index: int, stop: int, keep: Keep) -> tuple[int, bool]:
        """Make the Steps of nodes that have run; return up to where, and whether to go on."""
        # entered once for many nodes: it takes as long as a small one
        with unobserved(), torch.set_grad_enabled(self.call.graph):
            while index < stop:
                run = self._runs.pop(index, None)
                if run is not None:
                    goes_on = keep(self._step(index, run), run[2])
                elif self._is_known(index):
                    goes_on = keep(self._unreached(index), 0.0)
                else:
                    break
                index += 1
                if not goes_on:
                    return index, False
        return index, True

    def _run_on(self, start: int, stop: int, later: Later) -> None:
        """Run the pass up to node ``stop``; what the hooks were given is all that is kept of it
        until somebody asks."""
        index = start
        while index < stop:
            if not self._is_known(index):
                self._advance(index, stop)
            first, runs = index, self._runs
            while index < stop and (index in runs or self._is_known(index)):
                index += 1
            begin = first if self._due is None else self._due[0]
            self._due = begin, index, later.keep
            self._due_runs += sum([each in runs for each in range(first, index)])
            if not later.ran(index - first, self._bytes_of_runs(first, index)):
                return

    def _bytes_of_runs(self, start: int, stop: int) -> int:
        """Return at most what the gradients of nodes that have run take."""
        runs = self._runs
        try:
            sizes: list[int] = [
                g.nbytes
                for index in range(start, stop) if index in runs
                for g in runs[index][0] if g is not None and type(g) is not ref
            ]  # fmt: skip
            return sum(sizes) + STEP_BYTES * (stop - start)
        except (RuntimeError, NotImplementedError):  # one has no memory of its own, or in parts
            return sys.maxsize

    def catch_up(self) -> None:
        """Make the Steps of nodes that ran when nobody asked for them."""
        if self._due is not None:
            (start, stop, keep), self._due, self._due_runs = self._due, None, 0
            self._synchronize()
            with collector_slowed():
                self._make_steps(start, stop, keep)

    @property
    def pending(self) -> Pending:
        """The sums that wait."""
        if self._due is not None:
            self.catch_up()
        return self._pending

    @property
    def effects(self) -> dict[int, NodeEffects]:
        """What hooks of the program's changed, and which passes ran inside, by index."""
        if self._due is not None:
            self.catch_up()
        return self._effects

    def inner_passes(self) -> Iterable[Nested]:
        return [each for found in self._inside.values() for each in found]

    def added(self, index: int) -> Any:
        run = self._runs.get(index)
        if run is None:
            return None
        found = self.grad(index)
        taken_over = self._leaves[index][1] is None and found is run[3] is not None
        is_as_it_was = taken_over and version_of(found) == self._versions[index]
        return found if is_as_it_was else run[1][0]

    def _is_known(self, index: int) -> bool:
        """Return whether node ``index`` has run, or never will."""
        if index in self._runs or self.order[index] in self._ends:
            return True
        return self._done and self._error is None

    def _advance(self, index: int, stop: int) -> None:
        """Let the engine run on until node ``index`` has run, and if it can, those to ``stop``."""
        if self._error is not None:
            raise self._error
        if self._thread is not None:
            self._enough = len(self._runs) + self._missing(index, stop)
            if stop == len(self.order):  # behind the last one it is over, and need not halt
                self._enough += 1
            self._deadline = perf_counter() + _SLICE
        try:
            if self._thread is None:
                self.in_engine_thread(partial(self._run_engine, index))
                over = True
            elif self._halted:
                over = self._thread.go_on()
            else:
                over = self._thread.start(partial(self._run_engine, index))
        except BaseException as error:
            self._error, self._halted = error, False
            if index not in self._runs:
                raise
            return
        self._halted = not over and not self._done
        if self._thread is None:
            self._take_real_order(index)

    def _missing(self, index: int, stop: int) -> int:
        """Count the nodes from ``index`` to ``stop`` that have not run and will."""
        missing = stop - index
        if len(self._runs) > self._due_runs:  # some ran sooner than foretold
            missing -= sum(index <= each < stop for each in self._runs)
        if self._ends:
            missing -= sum(node in self._ends for node in self.order[index:stop])
        return missing

    def _synchronize(self) -> None:
        """Wait for what the engine has started on a GPU: this thread may use another stream."""
        if any(isinstance(seed, torch.Tensor) and seed.is_cuda for seed in self.call.seeds):
            torch.cuda.synchronize()

    def _run_engine(self, start: int, *, observed: bool = True) -> None:
        """Let the engine run what is left, from node ``start`` on."""
        arguments = self._arguments()
        if arguments is None:
            self._done = True
            return
        with unobserved():
            wanted = self._wanted_hooks(start) if observed else []
        unhook = hook_nodes(wanted)
        self._ended = perf_counter()
        try:
            self._result = carry_out(arguments, self._hear)
            self._done = True
        except Abort:
            self._halted, self._diverged = False, True
        finally:
            unhook()

    def _wanted_hooks(self, start: int) -> list[tuple[Any, Any]]:
        """List the hooks that are to see what nodes from ``start`` on do, each with the method that
        registers it."""
        # a pass that begins inside a custom Function may add to a leaf before its node does
        quiet = not any(node.is_function for node in self.order)
        empty = {
            leaf for leaf in self._leaf_nodes if quiet and leaf.tensor.origin.grad is None
        }  # of these it is known what they hold before
        handed = self._handed_over_to_leaves(start, empty)
        muted = {index for index, _ in self.muted_edges}
        wanted: list[tuple[Any, Any]] = []
        after, after_leaf = self._after, self._after_leaf
        for index, node in enumerate(self.order[start:], start):
            if self._ends and node in self._ends:
                continue
            hook: Any
            if type(node) is TorchLeaf:
                # a hook costs as much as a small node: there is one before only where it is needed
                if node in empty:
                    self._leaves[index] = None, None
                else:
                    wanted.append((node.origin.register_prehook, partial(self._before_leaf, index)))
                hook = partial(after_leaf, index, node.tensor.origin)
            elif index in muted:
                hook = partial(self._after_muted, index)
            elif index in handed:
                hook = partial(self._after_handing_over, index, handed[index])
            else:
                hook = partial(after, index)
            wanted.append((node.origin.register_hook, hook))
        return wanted

    def _handed_over_to_leaves(self, start: int, empty: set[TorchLeaf]) -> dict[int, list[int]]:
        """Find, by node, the edges whose gradient becomes a ``.grad`` as it is: where nobody else
        holds it, the engine takes it over, and need not copy it.  ``empty`` are the leaves that
        have none.

        Not where code of the program's is known to change a ``.grad`` while the pass runs, nor
        where edges are muted: the pass ends behind such a node, and its leaf never runs.
        """
        if self.call.graph or self.call.is_grad or self.muted_edges or is_shared_with_processes():
            return {}
        ways: dict[Any, tuple[int, int] | None] = {}  # None of a leaf to which several lead
        for index, node in enumerate(self.order[start:], start):
            for edge in node.edges:
                if type(edge) is TorchLeaf:
                    ways[edge] = None if edge in ways else (index, node.edges.index(edge))
        found: dict[int, list[int]] = {}
        for leaf, way in ways.items():
            variable = leaf.tensor.origin
            if any(hook_tables(variable)):
                if variable._post_accumulate_grad_hooks:
                    return {}
            elif way is not None and leaf in empty and self._pending.get(leaf) is None:
                index, nr = way
                found.setdefault(index, []).append(nr)
        return found

    def _arguments(self) -> Arguments | None:
        """Return what the engine is called with; None where nothing is left to run."""
        given: Arguments = self.call.arguments
        if not self._diverged:
            return given._replace(keep=True) if self._retains else given
        edges, seeds = [], []
        for place, gradient in self.pending.items():
            node = owner(place)
            if gradient is not None and node in self._index and node not in self._ends:
                edges.append(GradientEdge(node.origin, place.nr if isinstance(place, Port) else 0))
                seeds.append(gradient)
        if not edges:
            return None
        return given._replace(
            outputs=tuple(edges), seeds=tuple(seeds), keep=True, allow_unreachable=True
        )

    def _hear(self, call: BackwardCall) -> Any:
        """Let a pass run inside a node; leaves that both add to have hooks of this one."""
        silent, self._silent = self._silent, True
        try:
            if self.intercept is not None:
                return self.intercept(call)
            found = carry_out(call.arguments)
            return found if call.is_grad else True
        finally:
            self._silent = silent

    # hooks around each node

    def _before_leaf(self, index: int, gradients: tuple[Any, ...]) -> None:
        if self._silent:
            return
        with unobserved(), torch.no_grad():
            held = self.order[index].origin.variable.grad
            before = None if held is None else held.detach().clone()  # the engine adds in place
        self._leaves[index] = held, before

    def _after_handing_over(
        self, index: int, numbers: list[int], sent: tuple[Any, ...], arrived: tuple[Any, ...]
    ) -> None:
        kept = list(sent)
        for nr in numbers:
            if sent[nr] is not None:
                kept[nr] = ref(sent[nr])  # until its leaf has run, which holds it then
        self._after(index, kept, arrived)

    def _after_muted(self, index: int, sent: tuple[Any, ...], arrived: tuple[Any, ...]) -> None:
        if not self._silent:
            self._keep_run(index, sent, arrived, None)
            if self._thread is not None:
                raise Abort  # what is not to be sent is not: the next run begins behind this node

    def _after_leaf(
        self, index: int, leaf: torch.Tensor, sent: tuple[Any, ...], arrived: tuple[Any, ...]
    ) -> None:
        if not self._silent:
            with unobserved():
                held = leaf.grad
                if held is not None:
                    self._versions[index] = version_of(held)
            self._keep_run(index, sent, arrived, held)

    def _after(self, index: int, sent: Sequence[Any], arrived: tuple[Any, ...]) -> None:
        if not self._silent:
            # as _keep_run, without the call: this is what recording costs at a node
            now = perf_counter()
            self._runs[index] = sent, arrived, now - self._ended, None
            self._ended = now
            if len(self._runs) >= self._enough or self.nested or now > self._deadline:
                self._pause(index)

    def _keep_run(self, index: int, sent: Sequence[Any], arrived: Any, held: Any) -> None:
        now = perf_counter()
        self._runs[index] = sent, arrived, now - self._ended, held
        self._ended = now
        if len(self._runs) >= self._enough or self.nested or now > self._deadline:
            self._pause(index)

    def _pause(self, index: int) -> None:
        """Halt behind node ``index``, if something is left to run."""
        if self.nested:
            self._inside[index], self.nested = tuple(self.nested), []
        if self._thread is not None:
            self._thread.halt()
            self._ended = perf_counter()

    # steps

    def _take_real_order(self, start: int) -> None:
        """Put the nodes in the order in which they ran."""
        ran = [self.order[index] for index in self._runs]
        expected = [node for node in self.order[start:] if node not in self._ends][: len(ran)]
        if ran == expected:
            return
        runs = {self.order[index]: run for index, run in self._runs.items()}
        rest = [node for node in self.order[start:] if node not in runs]
        self.order = [*self.order[:start], *ran, *rest]
        self._index = {node: index for index, node in enumerate(self.order)}
        self._runs = {self._index[node]: run for node, run in runs.items()}

    def _take(self, node: Any) -> tuple[Any, ...]:
        """Take what waits at ``node``."""
        pending = self._pending
        if node.output_count == 1:
            incoming = (pending[node],)
            pending[node] = None
            return incoming
        places = places_of(node)
        incoming = tuple([pending[place] for place in places])
        pending.update(dict.fromkeys(places))
        return incoming

    def _unreached(self, index: int) -> Step:
        """Make the Step of a node that does not run: ``grad`` takes what arrives, or nothing
        does."""
        node = self.order[index]
        incoming = self._take(node)
        captured = self._capture(node, incoming)
        edges = () if node in self._ends else node.edges
        unsent = tuple(deliver(self._pending, nr, to, None) for nr, to in enumerate(edges))
        return Step(index, node, incoming, incoming, unsent, captured=captured)

    def _capture(self, node: Any, gradients: tuple[Any, ...]) -> tuple[tuple[Any, Any], ...]:
        """Note what ``grad`` takes at ``node``."""
        pairs = zip(places_of(node), gradients, strict=False)
        found = tuple((place, g) for place, g in pairs if place in self._wanted_places)
        self._captured.update(found)
        return found

    def _step(self, index: int, run: _Run) -> Step:
        """Make the Step of a node that has run."""
        node, pending = self.order[index], self._pending
        sent, hooked, _, _ = run
        nested = self._inside.get(index, ())
        calls: tuple[HookCall, ...] = ()
        if node.output_count == 1 and pending[node] is hooked[0]:  # as nearly always
            incoming, pending[node] = hooked, None
        else:
            incoming = self._take(node)
            calls, hooked = self._compared(index, incoming, hooked)
        captured = self._capture(node, hooked) if self._wanted_places else ()
        if node.kind == LEAF:
            before, after, later = self._accumulated(index, run)
            if calls or later or nested:
                self._note(index, (*calls, *later), nested)
            self._sizes[index] = STEP_BYTES if before is None else STEP_BYTES + nbytes_of(before)
            return _made_step((index, node, incoming, hooked, (), before, after, captured))
        if calls or nested or node.is_function:
            self._note(index, calls, nested)
        if self.muted_edges:
            sent = tuple(
                None if (index, nr) in self.muted_edges else g for nr, g in enumerate(sent)
            )
        edges = node.edges
        if len(sent) < len(edges):
            sent = (*sent, *[None] * (len(edges) - len(sent)))
        deliveries, size, given, place = [], STEP_BYTES, hooked[0], None
        if hooked is not incoming:
            size += sum([nbytes_of(g) for g in hooked if g is not None])
        for nr, edge in enumerate(edges):
            if edge is None:
                deliveries.append(_made_delivery((nr, None, None, None, None)))
                continue
            gradient, there = sent[nr], pending.get(edge)
            if type(gradient) is ref:
                gradient = gradient()
            total = there
            if gradient is not None:
                if gradient is not given:
                    try:
                        if place is None:
                            place = None if given is None else given.data_ptr()
                        if gradient.data_ptr() != place:
                            size += gradient.nbytes
                    except (RuntimeError, NotImplementedError):  # it has no memory of its own
                        size += nbytes_of(gradient)
                total = gradient
                if there is not None:
                    total = there + gradient
                    size += nbytes_of(total)
                pending[edge] = total
            deliveries.append(_made_delivery((nr, edge, gradient, there, total)))
        self._sizes[index] = size
        return _made_step((index, node, incoming, hooked, tuple(deliveries), None, None, captured))

    def _compared(
        self, index: int, incoming: tuple[Any, ...], hooked: tuple[Any, ...]
    ) -> tuple[tuple[HookCall, ...], tuple[Any, ...]]:
        """Return what hooks made of what waited at a node, and what the node got."""
        for one, other in zip(incoming, hooked, strict=False):
            if one is not other and not same_bits(one, other):
                return (_change("pre", _UNKNOWN, incoming, hooked),), hooked
        return (), incoming

    def _note(self, index: int, calls: tuple[HookCall, ...], nested: tuple[Nested, ...]) -> None:
        self._effects[index] = NodeEffects(0, 0, calls=calls, nested=nested, user_code=True)

    def _accumulated(self, index: int, run: _Run) -> tuple[Any, Any, tuple[HookCall, ...]]:
        """Return the ``.grad`` of a leaf before and after its node, and what hooks made of it."""
        (_, (added, *_), _, found), (_, before) = run, self._leaves[index]
        if before is not None:
            self.disturbances += 1  # the engine added in place
        hooks = getattr(self.order[index].origin.variable, "_post_accumulate_grad_hooks", True)
        if not hooks and not self.read_only:
            return before, found, ()
        self._versions.pop(index, None)
        after = _sum(before, added)
        if same_bits(after, found):
            return before, after, ()
        found = None if found is None else found.detach().clone()
        return before, found, (_change("accumulated", "", (after,), (found,)),)

    def run(self, start: int) -> None:
        """Run everything from plan node ``start`` on, keeping no record."""
        if self._error is not None:
            raise self._error
        if self.muted_edges or (self._diverged and self.call.is_grad):
            self.record(start, len(self.order), lambda step, seconds: True)
            return
        self._silent = True
        try:
            if self._halted:
                assert self._thread is not None
                while not self._thread.go_on():
                    pass
            elif not self._done:
                self.in_engine_thread(partial(self._run_engine, start, observed=False))
        finally:
            self._halted, self._silent = False, False

    def in_engine_thread(self, order: Callable[[], Any]) -> None:
        """Carry out ``order`` where the engine runs."""
        thread = self._thread or self._elsewhere
        if thread is None:
            order()
        else:
            thread.start(order)

    # going back, and on in another way

    def undo(self, step: Step) -> None:
        for delivery in reversed(step.deliveries):
            if delivery.edge is not None:
                self.pending[delivery.edge] = delivery.before
        self.pending.update(self.inputs(step))
        for place, _ in step.captured:
            self._captured[place] = None
        if self._thread is None and step.index in self._leaves:  # it does not go forward again
            held, before = self._leaves.pop(step.index)
            put_gradient(self.order[step.index].origin.variable, held, before)

    def redo(self, step: Step) -> None:
        for place, _ in self.inputs(step):
            self.pending[place] = None
        for delivery in step.deliveries:
            if delivery.edge is not None:
                self.pending[delivery.edge] = delivery.after
        self._captured.update(step.captured)

    def redo_state(self, step: Step) -> None:
        """Nothing: going back has not changed the program's state."""

    def forget(self, start: int) -> None:
        """Forget what nodes from ``start`` on did; what runs next goes on from what waits there."""
        self._end_run()
        self._put_back(start)
        for index in [index for index in self._effects if index >= start]:
            del self._effects[index]
        self._runs.clear()
        self._error, self._done, self._diverged = None, False, True

    def _end_run(self) -> None:
        if self._halted:
            assert self._thread is not None
            self._thread.abort()
            self._halted = False

    def _put_back(self, start: int) -> None:
        """Give the leaves from node ``start`` on the ``.grad`` that they had."""
        for index in sorted({*self._leaves, *self._inside}, reverse=True):
            if index < start:
                break
            if index in self._leaves:
                put_gradient(self.order[index].origin.variable, *self._leaves[index])
            inside: Any = self._inside.get(index, ())
            for inner in reversed(inside):
                inner.driver.undo_all()
        self._leaves = {k: kept for k, kept in self._leaves.items() if k < start}
        self._inside = {k: found for k, found in self._inside.items() if k < start}

    def undo_all(self) -> None:
        """Give every leaf the ``.grad`` that it had before the pass."""
        self._end_run()
        self.catch_up()
        self._put_back(0)
        self._runs.clear()
        self._done = True
        self._around.close()

    def fork(self, pending: Pending) -> Replay:
        return NodeReplay(self.call, self.order, dict(pending), self.muted_edges)

    def anew(self, pending: Pending) -> Self:
        other = type(self)(self.call)
        other.order, other._index, other._ends = self.order, self._index, self._ends
        other._pending = {**dict.fromkeys(self.pending), **pending}
        other._outer, other._elsewhere = self, self._thread
        other._diverged = other._retains = True
        return other

    def as_before(self, start: int) -> AbstractContextManager[None]:
        return nullcontext()  # what is called from Python reads nothing that the pass changed

    @contextmanager
    def state_before(self, start: int) -> Iterator[None]:
        """Within it, every ``.grad`` is as it was before node ``start``."""
        now = {}
        silent, self._silent = self._silent, True
        for index, (held, before) in self._leaves.items():
            if index >= start:
                leaf = self.order[index].origin.variable
                now[index] = leaf.grad, None if leaf.grad is None else leaf.grad.detach().clone()
                put_gradient(leaf, held, before)
        try:
            yield
        finally:
            for index, (held, copy) in now.items():
                put_gradient(self.order[index].origin.variable, held, copy)
            self._silent = silent

    # what is shown

    def as_it_was(self, step: Step) -> Step:
        version = self._versions.get(step.index)
        if step.after is None or version in (None, version_of(step.after)):
            return step
        (added,) = step.hooked
        if not is_passed_on(step.after, added):
            with unobserved(), torch.no_grad():
                return step._replace(after=_sum(step.before, added))
        if not self._told:
            self._told = True
            tell(
                f"the .grad that {step_number(step.index)} made was changed in place later: it is "
                "shown as it is now"
            )
        return step

    def entered(self, seed: Any) -> Any:
        return seed

    def inputs(self, step: Step) -> list[tuple[Place, Any]]:
        return list(zip(places_of(step.node), step.incoming, strict=True))

    def places(self, node: Any) -> Sequence[Place]:
        return places_of(node)

    def entering_seeds(self) -> Sequence[Any]:
        return [
            seed
            for seed, root in zip(self.call.seeds, self.call.roots, strict=True)
            if owner(root.edge) in self._index
        ]

    def step_bytes(self, step: Step) -> int:
        return self._sizes.get(step.index, STEP_BYTES)

    def replays(self, index: int) -> bool:
        return self._retains and index not in self.effects and replays(self.order[index])

    def repeat(self, step: Step) -> Sequence[Any] | None:
        node: Any = step.node
        if node.kind == LEAF or node in self._ends or node.opaque or not self._retains:
            return None
        if not any(g is not None for g in step.hooked):
            return None  # the engine does not call it with nothing
        if node.is_function and any(g is None for g in step.hooked):
            return None  # whether it is given zeros instead cannot be read
        draws = torch.random.fork_rng() if node.is_function else nullcontext()
        with draws:
            sent = call_node(node, step.hooked)
        # nobody asked for what leads out of the pass
        return [
            g if edge is not None and owner(edge) in self._index else None
            for g, edge in zip(sent, node.edges, strict=True)
        ]

    @contextmanager
    def repeating(self) -> Iterator[None]:
        # entered once for many nodes: it takes as long as a small one
        with unobserved(), torch.set_grad_enabled(self.call.graph):
            yield

    def agree(self, one: Any, other: Any) -> bool:
        return same_bits(one, other)

    def runs_user_code(self, index: int) -> bool:
        node = self.order[index]
        return bool(node.is_function) or node.is_packed()

    def unreduced(self, step: Step) -> None:
        """Nothing: the engine does not show what it sums to the shape of an input."""

    def kept_bytes(self) -> int:
        if not self._retains or self.call.keep:
            return 0
        found = {}
        for node in self.order:
            for name, kept, _ in node.saved():
                if kept is not None:
                    extent = kept.extent
                    found[extent.storage or (node, name)] = extent.nbytes
        return sum(found.values())

    # the numbers of gradients

    def grad(self, index: int) -> Any:
        return self.order[index].origin.variable.grad

    def grad_before(self, index: int) -> Any:
        return self._leaves[index][1] if index in self._leaves else self.grad(index)

    def set_grad(self, index: int, gradient: Any) -> None:
        self.order[index].origin.variable.grad = gradient

    def numbers(self, gradient: Any) -> NDArray[Any]:
        return numbers_of(gradient)

    def gradient(self, array: NDArray[Any], index: int, input_nr: int, *, grad: bool) -> Any:
        origin = self.order[index].origin
        like = origin.variable if grad else metadata_of(origin)[input_nr]
        return torch.from_numpy(np.array(array)).to(like.device, like.dtype)

    # the end

    def gradients(self) -> Any:
        """Return what the call returns to the program: of ``grad``, the gradients."""
        if not self.call.is_grad or not self._diverged:
            return self._result
        return tuple(self._captured.get(x.edge) for x in self.call.inputs)

    def retain_graph(self) -> None:
        """Keep what nodes saved, whatever the call says."""
        self._retains = True

    def release(self) -> None:
        """Let go of the graph, as far as that can be done, as the plain pass would have."""
        if self._thread is not None:
            self._thread.close()
        if self._retains and not self.call.keep:
            mark_as_freed(self.call, [node.origin for node in self.order if node not in self._ends])


def _sum(before: Any, added: Any) -> Any:
    """Return what the engine makes of the ``.grad`` of a leaf."""
    return before if added is None else added if before is None else before + added


def _change(kind: Any, name: str, before: Sequence[Any], after: Sequence[Any]) -> HookCall:
    """Tell what hooks made of gradients."""
    arrays = [tuple(None if g is None else array_of(g) for g in each) for each in (before, after)]
    return HookCall(kind, name, 0, arrays[0], arrays[1])


def put_gradient(leaf: torch.Tensor, held: Any, numbers: Any) -> None:
    """Make ``held`` the ``.grad`` of a leaf, with these numbers; others may share its memory."""
    with unobserved(), torch.no_grad():
        if held is not None and not same_bits(held, numbers):
            if held.layout is torch.strided:
                held.copy_(numbers)
            else:
                held = numbers
        leaf.grad = held
