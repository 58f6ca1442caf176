"""PyTorch's engine on one pass, with a hook of ours behind each node, where it may be halted.

The program's hooks and custom Functions run once, in their order, as in a plain pass.  Our hooks
keep what the engine gives them, and nothing else: what they cost is what recording costs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from itertools import chain, count, pairwise
from math import inf
from operator import eq
from sys import _getframe
from threading import get_ident
from time import perf_counter
from types import FrameType
from typing import Any, Final, NamedTuple, Self
from weakref import ref

import torch
from torch.autograd.graph import GradientEdge

from gradstep.contract.driver import CannotRunAgain, Nested, Pending
from gradstep.engines.pytorch.calls import Arguments, TorchCall
from gradstep.engines.pytorch.entry import carry_out, intercepted, is_engine_call
from gradstep.engines.pytorch.nodes import TorchLeaf, TorchNode, hooks_of, is_of_program
from gradstep.engines.pytorch.order import owner
from gradstep.engines.pytorch.private import (
    TensorBase,
    grad_enabled,
    hook_nodes,
    hook_tables,
    is_shared_with_processes,
    late_hooks,
    running_pass,
    see_that_hooks_are_allowed,
    torch_c,
    unobserved,
)
from gradstep.engines.pytorch.stepping.engine_thread import Abort, EngineThread
from gradstep.engines.pytorch.stepping.leaf_gradients import (
    LeafGradients,
    State,
    StatesBefore,
    has_late_hooks,
    renumbered,
    state_of,
)
from gradstep.engines.pytorch.stepping.replay import deliver, places_of
from gradstep.engines.pytorch.tensors import copied, here, put_gradient
from gradstep.engines.pytorch.walking import walked
from gradstep.guest.fence import not_shown
from gradstep.records import Interceptor, Port

HOOKS_ONCE_MORE: Final = "hooks of parameters, such as an optimizer's, would be called once more"
_NODES = "what a node did"
_FEW = 4  # runs at least, after which a pass may be relieved of them
_SLICE = 0.1  # seconds after which a session hears how far the engine is, and may stop it

NodeRun = tuple[Sequence[Any], tuple[Any, ...], float, Any]
"""A node that has run: what it sent, what arrived after its hooks, its seconds, and of a leaf the
``.grad`` afterwards; no named tuple, which takes as long to make as all else in a hook."""


class Stage(Enum):
    """How far the engine is with what it was asked to run."""

    AHEAD = auto()
    """It has not begun, or begins anew from what waits."""
    HALTED = auto()
    """It waits in a hook."""
    OVER = auto()


class _ProgramCode(NamedTuple):
    """What is known of a pass before it runs for the first time, of the program's own code.

    Attributes:
        retained: what ``retain_grad()`` adds to, behind the index of its node.
        hooks: the tables of hooks at each node, and what they held.
        nodes: those that are known to run code of the program's.
        last: the last one of these in the order.
    """

    retained: Sequence[tuple[int, tuple[torch.Tensor, Any, Any, int]]] = ()
    hooks: Sequence[tuple[TorchNode, Any, dict[int, Any]]] = ()
    nodes: Set[TorchNode] = frozenset()
    last: int = -1


_NO_CODE: Final = _ProgramCode()


@dataclass(slots=True)
class _EngineCall:
    """A call of PyTorch's engine: the thread and the frame in which it was made, and the number of
    its pass, which a hook is the first to hear."""

    thread_id: int = 0
    frame: FrameType | None = None
    number: int | None = None


class _DeviceClock:
    """When a GPU was behind each node."""

    def __init__(self) -> None:
        self._marks: list[tuple[Any, Any]] = []
        self._took: dict[Any, float] = {}

    def mark(self, node: Any) -> None:
        """Let the GPU note when it is behind ``node``, None before all."""
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        self._marks.append((node, event))

    def seconds(self, node: Any, between_hooks: float) -> float:
        """Return what a node took; ``between_hooks`` where it ran on two devices."""
        if not self._took:
            for _, event in self._marks:
                event.synchronize()
            for (_, before), (after, ended) in pairwise(self._marks):
                with suppress(RuntimeError):  # they are on two devices
                    self._took[after] = before.elapsed_time(ended) / 1000
        return self._took.get(node, between_hooks)


class ObservedEngine:
    """Runs a pass, keeping a :data:`NodeRun` of each node.

    Other passes may come upon the same nodes, while this one is halted or inside one of its nodes:
    our hooks leave them alone, and note what they add to the leaves of this one.

    Once it has diverged from the program's call, because an edge was muted or because the pass goes
    on in another way, a run begins with the sums that wait.

    Args:
        order: the nodes of ``call`` in the order in which the engine will run them.
        sums: returns what waits, from which a pass that has diverged goes on.
        thread: where the engine runs, and waits behind a node until it is to go on; without one,
            the whole pass runs at once, in the thread that asks.

    Attributes:
        order: the nodes in the order in which they run; without a thread that is foretold before
            the pass, and real after it.
        index: the place of each node there.
        ends: nodes at which ``grad`` takes away what arrives, and which do not run.
        runs: by index, the nodes that have run and that nobody has taken from here.
        gradients: the ``.grad`` of the leaves.
        nested: the passes that ran inside the node that is running.
        inside: by index, those that ran inside a node.
        hooked: nodes with hooks of the program behind them, which may change what they send.
        intercept: is asked about each of them.
        relieve: is called every few runs of a pass that does not halt, and may take the first ones.
        taken: how many nodes it has taken.
        elsewhere: the thread in which a second run of the pass is made, which does not halt; None
            for the one that asks.
        unheard: nodes that have run while nothing was kept.
        ran_unseen: whether a pass ran inside a node in a device's own thread, where a session could
            not halt it.
        retains: whether a run keeps the graph, so that the pass can go on in another way.
        result: what the engine returned.
    """

    def __init__(
        self,
        call: TorchCall,
        order: Sequence[Any],
        sums: Callable[[], Pending],
        *,
        thread: EngineThread | None,
        retains: bool,
    ) -> None:
        see_that_hooks_are_allowed(node.origin for node in order if node.is_function)
        self.call, self.order, self.thread, self.retains = call, order, thread, retains
        self.index = {node: index for index, node in enumerate(order)}
        self.ends = self._find_ends()
        self.runs: dict[int, NodeRun] = {}
        self.gradients = LeafGradients(
            {
                index: node.tensor.origin
                for index, node in enumerate(order)
                if type(node) is TorchLeaf
            }
        )
        self.nested: list[Nested] = []
        self.inside: dict[int, tuple[Nested, ...]] = {}
        self.hooked: set[int] = set()
        self.intercept: Interceptor | None = None
        self.result: Any = ()
        self.diverged = False
        self.relieve: Callable[[], None] | None = None
        self.taken = 0
        self.elsewhere: EngineThread | None = None
        self.ran_unseen = False
        self.unheard: list[int] = []
        self._inside = 0  # passes that run inside, and that nobody is asked about
        self._sums = sums
        self._halted_at: int | None = None  # the last node behind which it did
        self._unseen = StatesBefore()  # of leaves that only passes inside come to
        self._code: _ProgramCode | None = None
        self._running = _EngineCall()
        self._clock: _DeviceClock | None = None
        self._error: BaseException | None = None
        self._enough = inf  # runs at which the engine halts
        self._deadline = inf  # or when it halts, unless one more run is enough, or ends the pass
        self._ended = 0.0  # the last node
        self._stage = Stage.AHEAD
        self._silent = False  # nobody wants to hear what nodes do

    def _find_ends(self) -> set[TorchNode]:
        if not self.call.is_grad:
            return set()
        inputs = {owner(tensor.edge) for tensor in self.call.inputs if tensor.edge is not None}
        return {
            node
            for node in inputs
            if not any(edge is not None and owner(edge) in self.index for edge in node.edges)
        }

    # running

    def has_run(self, index: int) -> bool:
        """Return whether node ``index`` has run, or never will."""
        if index in self.runs or self.order[index] in self.ends:
            return True
        return self._stage is Stage.OVER and self._error is None

    def has_run_as(
        self,
        runs: Mapping[Any, NodeRun],
        before: Mapping[Any, State],
        inside: Mapping[Any, tuple[Nested, ...]],
        result: Any,
        error: BaseException | None,
    ) -> None:
        """Take note of a pass that has run: what each node did, in their order, what each leaf held
        ``before``, the passes ``inside`` nodes, and what came of it."""
        self.runs = {self.index[node]: run for node, run in runs.items()}
        self.inside = {self.index[node]: passes for node, passes in inside.items()}
        self.gradients.knew({self.index[node]: state for node, state in before.items()})
        self._stage, self.result, self._error = Stage.OVER, result, error
        self._take_real_order(0)

    def advance(
        self, index: int, stop: int, *, passed: int = 0, muted: Collection[tuple[int, int]] = ()
    ) -> None:
        """Let the engine run on until node ``index`` has run, and if it can, those to ``stop``.

        Args:
            passed: how many of the runs are of nodes before ``index``.
            muted: edges over which nothing is sent, each a node's index and its number there; they
                count where a run begins.

        Raises:
            BaseException: whatever the node or a hook raised.
        """
        if self._error is not None:
            raise self._error
        if self.relieve is not None:
            self._enough = _FEW
        if self.thread is not None:
            self._enough = len(self.runs) + self._missing(index, stop, passed)
            if stop == len(self.order):  # behind the last one it is over, and need not halt
                self._enough += 1
            self._deadline = perf_counter() + _SLICE
        try:
            if self.thread is None:
                self.in_thread(partial(self._run, index, muted))
                over = True
            elif self._stage is Stage.HALTED:
                over = self.thread.go_on()
            else:
                over = self.thread.start(partial(self._run, index, muted))
        except BaseException as error:
            self._error = error
            if self._stage is Stage.HALTED:
                self._stage = Stage.AHEAD
            if index not in self.runs and index >= self.taken:
                raise
            return
        if not over and self._stage is not Stage.OVER:
            self._stage = Stage.HALTED
        if self.thread is None:
            self._take_real_order(max(index, self.taken))

    def _missing(self, index: int, stop: int, passed: int) -> int:
        """Count the nodes from ``index`` to ``stop`` that have not run and will."""
        missing = stop - index
        if len(self.runs) > passed:  # some ran sooner than foretold
            missing -= sum(index <= number < stop for number in self.runs)
        if self.ends:
            missing -= sum(node in self.ends for node in self.order[index:stop])
        return missing

    def finish(self, start: int) -> None:
        """Run what is left, from node ``start`` on, and keep nothing of it."""
        if self._error is not None:
            raise self._error
        stage, self._silent = self._stage, True
        if stage is Stage.HALTED:
            assert self.thread is not None
            self._stage = Stage.AHEAD
            while not self.thread.go_on():
                pass
        elif stage is Stage.AHEAD:
            self.gradients.keep_first()
            # nobody goes back: the engine itself frees what it comes to
            retained, self.retains = self.retains, False
            try:
                self.in_thread(partial(self._run, start, observed=False))
            finally:
                self.retains = retained and self.diverged  # what ran before is not freed yet

    @property
    def is_halted(self) -> bool:
        """Whether the engine waits in a hook."""
        return self._stage is Stage.HALTED

    def finish_halted(self) -> None:
        """Let the engine run on to the end of the pass, if it waits; it keeps nothing of it."""
        if self.is_halted:
            self.finish(0)

    def in_thread(self, work: Callable[[], Any]) -> None:
        """Do ``work`` where the engine runs."""
        thread = self.thread or self.elsewhere
        if thread is None:
            work()
        else:
            thread.start(work)

    def _run(
        self, start: int, muted: Collection[tuple[int, int]] = (), *, observed: bool = True
    ) -> None:
        """Let the engine run what is left, from node ``start`` on."""
        arguments = self._arguments(muted)
        if arguments is None:
            self._stage = Stage.OVER
            return
        wanted = []
        if observed:
            self.gradients.begin(start)
            if self._code is None:
                self._code = self._find_code()
            # the engine adds in place to what nobody else holds, and takes it over: modes see that
            copies = not self.call.graph and self.call.roots[0].graph.origins.has_dispatch_mode
            with unobserved():
                wanted = self._wanted_hooks(start, muted, copies=copies)
        # hooked last of all: what is looked for above must not come upon our own hooks
        others: list[Any] = []
        unhook = hook_nodes(wanted, others)
        wanted.clear()
        self.hooked.update(index for hook in others for index in hook.args[:1])
        self._running = _EngineCall(get_ident(), _getframe())
        self._ended = perf_counter()
        if self._clock is not None:
            self._clock.mark(None)
        try:
            with intercepted():
                self.result = carry_out(arguments, self._hear)
            self._stage = Stage.OVER
            if self.nested:  # in a hook where grad takes what arrives, behind all nodes
                end = len(self.order) - 1
                self.inside[end] = (*self.inside.get(end, ()), *self.nested)
                self.nested.clear()
            if self.thread is None and observed:
                self.gradients.end()
        except Abort:
            self._stage, self.diverged = Stage.AHEAD, True
        finally:
            self._running.frame = None  # a cycle
            unhook()
            last = next(reversed(self.runs), self._halted_at)
            if last is not None and not self._silent:
                self._look(last)

    def _wanted_hooks(
        self, start: int, muted: Collection[tuple[int, int]], *, copies: bool
    ) -> list[tuple[Any, Any]]:
        """List the hooks that are to see what nodes from ``start`` on do, and keep ``copies`` of it
        if asked for, each with the method that registers it."""
        # code of the program's may begin a pass, which adds to a leaf before its node does
        quiet = not any(map(is_of_program, {type(node.origin) for node in self.order}))
        empty = {
            node
            for node in self.order
            if quiet and type(node) is TorchLeaf and node.tensor.origin.grad is None
        }  # of these it is known what they hold before
        # a pass ends behind a muted edge, and a leaf there never runs
        looks_for_nan = torch_c.is_anomaly_enabled() and torch_c.is_anomaly_check_nan_enabled()
        handed = {} if muted or looks_for_nan else self._handed_over_to_leaves(start, empty)
        behind_muted = {index for index, _ in muted}
        wanted: list[tuple[Any, Any]] = []
        after_leaf = self._after_leaf
        after = self._after_unless_nan if looks_for_nan else self._after
        if copies and not looks_for_nan:
            after, handed = self._after_copying, {}
        for index, node in enumerate(self.order[start:], start):
            if self.ends and node in self.ends:
                continue
            hook: Any
            if type(node) is TorchLeaf:
                # hooks of the program, elsewhere, may have changed what it holds until then
                wanted.append((node.origin.register_prehook, partial(self._before_leaf, index)))
                hook = partial(after_leaf, index)
            elif index in behind_muted:
                hook = partial(self._after_muted, index)
            elif index in handed or (node in self._known_code.nodes and not copies):
                hook = partial(self._after_handing_over, index, handed.get(index, []))
            else:
                hook = partial(after, index)
            wanted.append((node.origin.register_hook, hook))
        return wanted

    def _handed_over_to_leaves(self, start: int, empty: set[TorchLeaf]) -> dict[int, list[int]]:
        """Find, by node, the edges whose gradient becomes a ``.grad`` as it is: where nobody else
        holds it, the engine takes it over, and need not copy it.  ``empty`` are the leaves that
        have none.

        Not where code of the program's is known to change a ``.grad`` while the pass runs.
        """
        if self.call.graph or self.call.is_grad or is_shared_with_processes():
            return {}
        ways: dict[Any, tuple[int, int] | None] = {}  # None of a leaf to which several lead
        for index, node in enumerate(self.order[start:], start):
            for edge in node.edges:
                if type(edge) is TorchLeaf:
                    ways[edge] = None if edge in ways else (index, node.edges.index(edge))
        sums, by_leaf = self._sums(), dict[int, list[int]]()
        for leaf, way in ways.items():
            variable = leaf.tensor.origin
            if any(hook_tables(variable)):
                if late_hooks(variable):
                    return {}
            elif way is not None and leaf in empty and sums.get(leaf) is None:
                index, nr = way
                by_leaf.setdefault(index, []).append(nr)
        return by_leaf

    def _sums_behind_runs(self, muted: Collection[tuple[int, int]]) -> Pending:
        """Return what waits, also of nodes that ran sooner than foretold, and that nobody has taken
        from here: the run ended behind a muted edge."""
        sums = dict(self._sums())
        for index, (sent, *_) in self.runs.items():
            node = self.order[index]
            sums.update(dict.fromkeys(places_of(node)))
            for nr, (edge, gradient) in enumerate(zip(node.edges, sent, strict=False)):
                deliver(sums, nr, edge, None if (index, nr) in muted else gradient)
        return sums

    def _arguments(self, muted: Collection[tuple[int, int]]) -> Arguments | None:
        """Return what the engine is called with; None where nothing is left to run."""
        given: Arguments = self.call.arguments
        if not self.diverged:
            return given._replace(keep=True) if self.retains else given
        edges, seeds = [], []
        for place, gradient in self._sums_behind_runs(muted).items():
            node = owner(place)
            if gradient is not None and node in self.index:
                edges.append(GradientEdge(node.origin, place.nr if isinstance(place, Port) else 0))
                seeds.append(gradient)
        if not edges:
            return None
        return given._replace(
            outputs=tuple(edges),
            seeds=tuple(seeds),
            keep=given.keep or self.retains,
            allow_unreachable=True,
        )

    def _take_real_order(self, start: int) -> None:
        """Put the nodes in the order in which they ran."""
        ran = [self.order[index] for index in self.runs]
        expected = [node for node in self.order[start:] if node not in self.ends][: len(ran)]
        if ran == expected:
            return
        rest = set(self.order[start:]).difference(ran)
        order = [*self.order[:start], *ran, *filter(rest.__contains__, self.order)]
        index = {node: number for number, node in enumerate(order)}
        places = {place: index[node] for place, node in enumerate(self.order)}
        self.runs = renumbered(self.runs, places)
        self.inside = renumbered(self.inside, places)
        self.hooked = {places[place] for place in self.hooked}
        self.gradients.renumber(places)
        self.order, self.index = order, index

    @property
    def _known_code(self) -> _ProgramCode:
        """What is known of the program's code; nothing before the pass runs."""
        return self._code or _NO_CODE

    def _find_code(self) -> _ProgramCode:
        tables = ((node, table) for node in self.order for table in hooks_of(node) if table)
        hooks = [(node, table, dict(table)) for node, table in tables]
        nodes = {node for node, *_ in hooks}
        nodes.update(node for node in self.order if node.is_function)
        last = max(map(self.index.__getitem__, nodes), default=-1)
        return _ProgramCode(list(self._find_retained()), hooks, nodes, last)

    def _find_retained(self) -> Iterator[tuple[int, tuple[torch.Tensor, Any, Any, int]]]:
        """Find the tensors of this pass on which the program is known to have called
        ``retain_grad()``, and what they hold."""
        graph = self.call.roots[0].graph
        for tensor in list(graph.origins.retaining.values()):
            place = graph.edge_of(tensor) if tensor.requires_grad else None
            index = None if place is None else self.index.get(owner(place))
            if index is not None and not tensor.is_leaf:
                yield index, (tensor, *state_of(tensor))

    def _hear(self, call: TorchCall) -> Any:
        """Let a pass run inside a node."""
        is_on_device = get_ident() != self._running.thread_id
        self.ran_unseen = self.ran_unseen or is_on_device
        # halted there, a device would wait for itself
        if self.intercept is not None and not is_on_device:
            return self.intercept(call)
        if self.retains and not call.is_grad:  # what runs is to be undone
            leaves = walked(call).leaves
            if self.elsewhere is not None and any(map(has_late_hooks, leaves)):
                raise CannotRunAgain(HOOKS_ONCE_MORE)
            self._unseen.note(leaves, self.gradients.leaves.values())
        self._inside += 1
        try:
            result = carry_out(call.arguments, self._hear)
        finally:
            self._inside -= 1
        return result if call.is_grad else True

    # hooks around each node

    def _is_own(self, depth: int = 1) -> bool:
        """Return whether this pass called the hook that asks, ``depth`` frames away: others may
        come upon its nodes."""
        number, running = running_pass(), self._running
        if running.number is None and is_engine_call(_getframe(depth), running.frame):
            running.number = number
        return number == running.number

    def _is_heard(self, index: int) -> bool:
        """Return whether this pass called the hook behind node ``index``, and somebody wants to
        hear of it."""
        if not self._is_own(2):
            return False
        if self._silent:
            self.unheard.append(index)
        return not self._silent

    def _before_leaf(self, index: int, gradients: tuple[Any, ...]) -> None:
        try:
            if not self._silent and self._is_own():
                self.gradients.runs_next(index)
        except Exception as error:
            not_shown(_NODES, error)

    def _after_handing_over(
        self, index: int, numbers: list[int], sent: tuple[Any, ...], arrived: tuple[Any, ...]
    ) -> None:
        try:
            if not self._is_heard(index):
                return
            kept = list(sent)
            for nr in numbers:
                if sent[nr] is not None:
                    kept[nr] = ref(sent[nr])  # until its leaf has run, which holds it then
            self._keep_run(index, kept, arrived, None, may_rest=not numbers)
        except Exception as error:
            not_shown(_NODES, error)

    def _after_copying(self, index: int, sent: Sequence[Any], arrived: tuple[Any, ...]) -> None:
        try:
            if self._is_heard(index):
                self._keep_run(index, [*map(copied, sent)], tuple(map(copied, arrived)), None)
        except Exception as error:
            not_shown(_NODES, error)

    def _after_muted(self, index: int, sent: tuple[Any, ...], arrived: tuple[Any, ...]) -> None:
        try:
            if self._is_heard(index):
                self._keep_run(index, sent, arrived, None)
                if self.thread is not None:
                    raise Abort  # the next run begins behind this node
        except Exception as error:
            not_shown(_NODES, error)

    def _after_leaf(self, index: int, sent: tuple[Any, ...], arrived: tuple[Any, ...]) -> None:
        try:
            if self._is_heard(index):
                may_change = index < self._known_code.last and self.thread is not None
                held = self.gradients.has_run(index, arrived[0], may_change=may_change)
                self._keep_run(index, sent, arrived, held)
            elif not self._silent:
                caller = _getframe(1)  # a device's own thread has none
                beside = (
                    caller is not None
                    and get_ident() != self._running.thread_id
                    and not self._inside
                )
                self.gradients.set_by_others(index, beside=beside)
                self._deadline = 0.0  # the next halt shows what is inside the node
        except Exception as error:
            not_shown(_NODES, error)

    def measure(self) -> None:
        """Have :meth:`seconds` tell what a node takes on a GPU, where the program uses one: what
        lies between two hooks is no more than the time in which it is launched."""
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            self._clock = _DeviceClock()

    def seconds(self, index: int, between_hooks: float) -> float:
        """Return what node ``index``, which has run, took."""
        if self._clock is None:
            return between_hooks
        return self._clock.seconds(self.order[index], between_hooks)

    def _after(self, index: int, sent: Sequence[Any], arrived: tuple[Any, ...]) -> None:
        try:
            if self._is_heard(index):
                # as _keep_run, without the call: this is what recording costs at a node
                now = perf_counter()
                if self._clock is not None:
                    self._clock.mark(self.order[index])
                self.runs[index] = sent, arrived, now - self._ended, None
                self._ended = now
                is_late = now > self._deadline and len(self.runs) + 1 < self._enough
                if len(self.runs) >= self._enough or self.nested or is_late:
                    self._pause(index)
        except Exception as error:
            not_shown(_NODES, error)

    def _after_unless_nan(self, index: int, sent: Sequence[Any], arrived: tuple[Any, ...]) -> None:
        """Keep the run of a node, unless anomaly mode is about to raise for what it sent."""
        try:
            if not self._is_heard(index):
                return
            with unobserved(), grad_enabled(False):
                read = [here(g) for g in sent if g is not None]
                if any(
                    g is not None and TensorBase.item(TensorBase.any(TensorBase.isnan(g)))
                    for g in read
                ):
                    return
            self._keep_run(index, sent, arrived, None)
        except NotImplementedError:
            return  # nor can anomaly mode look, and raises this
        except Exception as error:
            not_shown(_NODES, error)

    def _keep_run(
        self, index: int, sent: Sequence[Any], arrived: Any, held: Any, *, may_rest: bool = True
    ) -> None:
        """Keep the run of a node, behind which the engine halts if it is to, or if it ``may_rest``
        and has run for a while."""
        now = perf_counter()
        if self._clock is not None:
            self._clock.mark(self.order[index])
        self.runs[index] = sent, arrived, now - self._ended, held
        if self.order[index] in self._known_code.nodes or index in self.hooked:
            self._look(index)
        self._ended = now
        is_late = may_rest and now > self._deadline and len(self.runs) + 1 < self._enough
        if len(self.runs) >= self._enough or self.nested or is_late:
            self._pause(index)

    def _pause(self, index: int) -> None:
        """Halt behind node ``index``, if something is left to run."""
        if self.relieve is not None and len(self.runs) >= self._enough:
            self.relieve()
            self._enough = len(self.runs) + max(_FEW, len(self.runs) // 4)  # looked at in all: few
            self._ended = perf_counter()
            if not self.nested:
                return
        if self.nested:
            self.inside[index] = tuple(self.nested)
            self.nested.clear()
        self._look(index)
        self._halted_at = index
        if self.thread is not None:
            self.thread.halt()
            self._ended = perf_counter()

    def _look(self, index: int) -> None:
        """Look at the leaves: node ``index`` has run."""
        known = self.order[index] in self._known_code.nodes or index in self.hooked
        known = known or index in self.inside or is_shared_with_processes()
        self.gradients.look(index, runs_user_code=known)

    def is_as_foretold(self) -> bool:
        """Return whether the runs that wait came in the order of the plan, without a gap."""
        return all(map(eq, self.runs, count(self.taken)))

    # what was done to the program's state

    def restore(self, start: int) -> None:
        """End the pass, and give the leaves from node ``start`` on the ``.grad`` that they had."""
        if self._stage is Stage.HALTED:
            assert self.thread is not None
            self.thread.abort()
        # the oldest state of a leaf comes last, and stays; what is known of the passes inside is
        # read for that, so it is forgotten behind it
        for state in self.states_before(start):
            put_gradient(*state)
        for table, items in self._without_hooks(start):
            now = {**items, **table}
            table.clear()
            table.update(now)
        self.gradients.forget(start)
        self.inside = {index: passes for index, passes in self.inside.items() if index < start}
        self.runs.clear()
        self._halted_at = start - 1 if start else None
        self._stage = Stage.OVER

    def states_before(self, start: int) -> Iterator[tuple[torch.Tensor, Any, Any, int]]:
        """Yield each leaf that was added to from node ``start`` on, with the ``.grad`` that it had:
        itself, and a copy.  The oldest come last."""
        for inner in self.passes_inside(start):
            yield from inner.driver.states_before()
        if not start:
            yield from self._unseen.states
        yield from self.gradients.states_before(start)
        yield from [state for index, state in self._known_code.retained if index >= start]

    def passes_inside(self, start: int) -> Iterator[Any]:
        """Yield PyTorch's passes that ran inside nodes from ``start`` on, the last one first."""
        for index in sorted(self.inside, reverse=True):
            if index >= start:
                yield from self._inside_of(index)

    def _inside_of(self, index: int) -> list[Any]:
        inside: Any = self.inside.get(index, ())
        return [inner for inner in reversed(inside) if isinstance(inner.call, TorchCall)]

    def is_rewritten(self, start: int) -> bool:
        """Return whether what ran from node ``start`` on, passes inside included, has changed
        leaves themselves."""
        return (
            self.gradients.is_rewritten(start)
            or self._unseen.are_rewritten()
            or any(inner.driver.is_rewritten() for inner in self.passes_inside(start))
        )

    def why_not_restored(self, start: int) -> str:
        """Return why some ``.grad`` cannot be put back to what it was before node ``start``; "" if
        all can."""
        if any(first + 1 < start <= last for first, last in self.gradients.unsure):
            return "a hook that was not traced changed a .grad in this pass"
        before = {self.order[index] for index in self.inside if index < start}
        code = self._known_code.nodes
        is_sure = before <= code and not self.ends & code
        if self.ends and before and not is_sure:
            return "a pass ran inside a hook that grad() may call once more"
        for leaf, node in self.gradients.changed_behind(start):
            states = (inner.driver.states_before() for inner in self._inside_of(node))
            known = {id(changed) for changed, *_ in chain.from_iterable(states)}
            if id(self.gradients.leaves[leaf]) not in known:
                return "a hook changed the .grad of a leaf that had run"
        return ""

    def _without_hooks(self, start: int) -> Iterator[tuple[Any, dict[int, Any]]]:
        """Yield the tables at nodes from ``start`` on of which the pass took hooks away, with what
        they held before."""
        for node, table, items in self._known_code.hooks:
            if not items.keys() <= table.keys() and self.index[node] >= start:
                yield table, items

    def has_all_hooks(self, start: int) -> bool:
        """Return whether nodes from ``start`` on have the hooks that they had before the pass."""
        return next(self._without_hooks(start), None) is None

    def restarted(self, sums: Callable[[], Pending]) -> Self:
        """Return an engine for the same pass that goes on from ``sums``, in this one's thread."""
        other = type(self)(self.call, self.order, sums, thread=None, retains=True)
        other.elsewhere, other.diverged = self.thread, True
        return other

    def diverge(self) -> None:
        """Let what runs next go on from what waits."""
        self._error, self._stage, self.diverged = None, Stage.AHEAD, True

    @contextmanager
    def state_before(self, start: int) -> Iterator[None]:
        """Within it, every ``.grad`` is as it was before node ``start``."""
        now: dict[int, tuple[Any, Any, Any, int]] = {}
        for state in self.states_before(start):
            leaf = state[0]
            now.setdefault(id(leaf), (leaf, *state_of(leaf)))
            put_gradient(*state)
        try:
            yield
        finally:
            for table in now.values():
                put_gradient(*table)
