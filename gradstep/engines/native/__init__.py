"""This package's own core, as readers of graphs see an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from operator import attrgetter
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from autograd_core import __version__, get_default_dtype, initial_seed
from autograd_core.autograd import profiler
from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.call import (
    BackwardCall,
    as_tensors,
    interceptor,
    make_call,
    run,
    unheard,
)
from autograd_core.autograd.grad_mode import settle, tracer
from autograd_core.autograd.graph import GradientEdge
from autograd_core.autograd.node import Node
from autograd_core.autograd.packed import Packed
from autograd_core.autograd.plan import Plan, make_plan
from autograd_core.autograd.profiler import profile
from autograd_core.autograd.saved import SavedNode
from autograd_core.autograd.version import Detached
from autograd_core.own_files import hide_files
from autograd_core.tensor import Tensor
from gradstep.contract import interception
from gradstep.contract.insides import Insides, Scaler
from gradstep.contract.op_records import Departure, OpRecord
from gradstep.contract.protocol import (
    OWN_RESULT,
    Engine,
    Measured,
    Reading,
    Rerun,
    Rule,
)
from gradstep.contract.ran import OnGradients, Ran, Record
from gradstep.engines.native.arrays import array_of, shown
from gradstep.engines.native.rules import extent, formula, rules_with_names
from gradstep.engines.native.trace import GraphTracer
from gradstep.engines.native.trace.origins import is_number, leaf_record, origin
from gradstep.graph.checksums import checksums
from gradstep.graph.model import Cost, Source
from gradstep.graph.statistics import Statistics, length, moved, statistics
from gradstep.graph.statistics_table import StatisticsTable, statistics_of_each
from gradstep.guest.own_files import OWN_FILES
from gradstep.records import Profile

T = TypeVar("T")

interception.add(interceptor, unheard)
hide_files(*OWN_FILES)  # where this tool calls the core, it stands in for the program


class NativeReading(Reading):
    """Graphs of :mod:`autograd_core.autograd`; nodes and tensors are seen as they are."""

    extent = staticmethod(extent)
    formula = staticmethod(formula)
    origin = staticmethod(origin)

    def owns(self, value: Any) -> bool:
        return isinstance(value, Tensor | GradientEdge)

    def edge_of(self, node: Any) -> GradientEdge | None:
        return GradientEdge(node, 0) if isinstance(node, Node) else None

    def tensors(self, roots: Iterable[Any]) -> tuple[Any, ...]:
        return as_tensors(tuple(roots))

    def plan(self, tensors: Sequence[Any]) -> Plan:
        return make_plan([tensor.edge for tensor in tensors])

    def leaf(self, node: Node) -> Tensor | None:
        return node.leaf() if isinstance(node, AccumulateGrad) else None

    def stem(self, node: Node) -> str:
        return node.op.public_name if isinstance(node, SavedNode) else ""

    def hooks(self, node: Node) -> list[Mapping[int, Any]]:
        hooks = node.hooks
        kinds = ("tensor", "pre", "post", "accumulated")
        return [] if hooks is None else [getattr(hooks, kind) for kind in kinds]

    def is_input(self, value: Any) -> bool:
        return isinstance(value, Tensor) or (isinstance(value, Packed) and not value.is_result)

    def is_detached(self, value: Any) -> bool:
        return isinstance(getattr(value, "version", None), Detached)

    def input_of(self, node: Node, name: str) -> int | None:
        if not isinstance(node, SavedNode):
            return None
        if name == "result" and name in node.op.outputs:
            return OWN_RESULT
        if name not in node.op.edges or node.op.variadic:
            return None
        return node.op.edges.index(name)


class NativeNumbers:
    """The numbers of its arrays."""

    array = staticmethod(array_of)
    shown = staticmethod(shown)

    def statistics(self, gradient: Any) -> Statistics | None:
        return None if gradient is None else statistics(_array(gradient))

    def all_statistics(self, gradients: Sequence[Any]) -> StatisticsTable:
        return statistics_of_each([None if g is None else _array(g) for g in gradients])

    def scalar_statistics(self, tensor: Any) -> Statistics | None:
        if not tensor.array.flags.writeable:  # it stands for an edge, which has no value
            return None
        return statistics(tensor.array) if tensor.array.size == 1 else None

    def copy(self, tensor: Any) -> NDArray[np.generic]:
        return np.array(_array(tensor))

    def kept_tensor(self, node: Node, name: str, kept: Any) -> Any:
        return None if kept is None or isinstance(kept, Packed) or is_number(kept) else kept

    def part(self, tensor: Any) -> None:
        """Return None: a tensor is whole."""


class NativeRunning:
    """Its calls."""

    call = staticmethod(make_call)
    run = staticmethod(run)
    unseen = staticmethod(nullcontext)

    def carry_out(
        self, call: BackwardCall, record: Record | None = None, hears: OnGradients | None = None
    ) -> Ran | None:
        return _carry_out()(call, record, hears)

    def keeps_finite(self, call: BackwardCall) -> bool:
        return False  # to keep its graph costs next to nothing

    def made_finite(self, call: BackwardCall, returned: Any) -> bool:
        from gradstep.engines.native.ran import are_finite  # few programs need it

        gradients = returned if call.is_grad else [leaf.grad for leaf in self.accumulated(call)]
        return are_finite([*call.roots, *gradients])

    def accumulated(self, call: BackwardCall) -> list[Any]:
        if call.is_grad:
            return []
        if call.inputs:
            return [
                tensor for tensor in call.inputs if isinstance(tensor, Tensor) and tensor.is_leaf
            ]
        order = NATIVE.reading.plan(call.roots).order
        return [node.variable for node in order if type(node) is AccumulateGrad]

    def may_run_user_code(self, call: BackwardCall) -> bool:
        # only debuggers and recordings need it
        from gradstep.engines.native.changes import nodes_of_user

        return bool(nodes_of_user(NATIVE.reading.plan(call.roots).order))

    def checksums(self, tensors: Sequence[Any]) -> list[int | None]:
        sums: list[int | None] = [None] * len(tensors)
        places = [at for at, tensor in enumerate(tensors) if tensor is not None]
        known = checksums([_array(tensors[at]) for at in places])
        for at, checksum in zip(places, known, strict=True):
            sums[at] = checksum
        return sums

    def lengths(self, tensors: Sequence[Any]) -> list[float | None]:
        return [None if tensor is None else length(_array(tensor)) for tensor in tensors]

    def moved(self, tensors: Sequence[Any], copies: Sequence[Any]) -> list[float | None]:
        pairs = zip(tensors, copies, strict=True)
        return [moved(_array(tensor), copy) for tensor, copy in pairs]

    def reads_unwritten(self, call: BackwardCall) -> bool:
        return False  # memory is written where it is made

    def memory(self, tensor: Any) -> None:
        """Return None: what the process has is what there is."""


class NativeStepping:
    """Its passes, node by node."""

    told_later = None

    def driver(self, call: BackwardCall, *, halting: bool = False, keep: bool = True) -> Any:
        # the debugger reads graphs itself, and is not loaded where none is stepped through
        from gradstep.engines.native.driver import NativeDriver

        return NativeDriver(call)

    def seeds(self, call: BackwardCall) -> list[Tensor]:
        return [g if isinstance(g, Tensor) else Tensor.from_array(g) for g in call.seeds]


class NativeRules:
    """Its derivative rules."""

    def rules(self, node: Node) -> list[Rule]:
        return list(rules_with_names(node))

    def rerun(self, node: Node, wide: bool) -> Rerun:
        # only checks need it
        from gradstep.engines.native import rerun

        return rerun.Rerun(node, wide)

    def rule_line(self, node: Node) -> Source | None:
        # as above
        from gradstep.engines.native.rerun import rule_of

        return None if isinstance(node, SavedNode) else rule_of(node)

    def isolated(self, function: Callable[[], T]) -> T:
        return function()  # what runs again is not traced


class NativeTracing:
    """What is traced of its ops."""

    settle = staticmethod(settle)

    def note_ops(self, *, on: bool, modules: bool = True) -> None:
        if isinstance(traces := tracer(), GraphTracer):
            traces.is_paused = not on

    def describe_ops(self, *, on: bool) -> bool:
        traces = tracer()
        if not isinstance(traces, GraphTracer):
            return False
        traces.describe(on=on)
        return on

    def drop_trace(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if node.notes is not None and type(node.notes.record) is OpRecord:
                node.notes.record.inputs = ()  # the last one leads to all others
                node.notes.record = None

    def has_run(self, module: Any) -> bool:
        traces = tracer()
        return isinstance(traces, GraphTracer) and traces.has_run(module)

    def departure(self, leaf: Tensor) -> Departure | None:
        record = leaf_record(leaf)
        return None if record is None else record.departure


class NativeProfiling:
    """What its profiler measures."""

    def measuring(self) -> Measured | None:
        profile = profiler.running_profile()
        return None if profile is None else profile.ran

    def costs(self, nodes: Iterable[Node], profile: Profile | None) -> dict[Node, Cost]:
        measured = profiler.running_profile() if profile is None else profile
        return node_costs(measured, nodes) if isinstance(measured, profiler.profile) else {}


@cache
def _carry_out() -> Callable[..., Ran | None]:
    # as above; each call of a program would look up the module once more
    from gradstep.engines.native.ran import carry_out

    return carry_out


def _array(gradient: Any) -> Any:
    return gradient.array if isinstance(gradient, Tensor) else gradient


def _hooks_of_module(module: Any) -> list[Any]:
    own = vars(module)
    names = ("_forward_pre_hooks", "_forward_hooks", "_backward_pre_hooks", "_backward_hooks")
    return [own[name] for name in names if own.get(name)]


def _settings() -> Mapping[str, str]:
    return {"seed": str(initial_seed()), "default dtype": str(get_default_dtype())}


NATIVE: Final = Engine(
    name="autograd_core", version=__version__, settings=_settings,
    reading=NativeReading(), numbers=NativeNumbers(),
    running=NativeRunning(), stepping=NativeStepping(), rules=NativeRules(),
    tracing=NativeTracing(), profiling=NativeProfiling(),
)  # fmt: skip
INSIDES: Final = Insides(
    part=lambda module, name: module._modules[name],
    hooks=_hooks_of_module,
    scaler=lambda scaler: Scaler(enabled=scaler.is_enabled()),
    version=attrgetter("_version"),
    base=attrgetter("_base"),
)


def node_costs(measured: profile, nodes: Iterable[Node]) -> dict[Node, Cost]:
    """Return the cost of those of ``nodes`` that a profile has measured.

    >>> import autograd_core as torch
    >>> x = torch.ones(3, requires_grad=True)
    >>> with profile() as measured:
    ...     y = x.exp()
    >>> node_costs(measured, [y.grad_fn])[y.grad_fn].forward_bytes
    12
    """
    costs = {}
    for node in nodes:
        if node.notes is None:
            continue
        forward, backward = measured.forward.get(node.notes), measured.backward.get(node.notes)
        if forward is not None or backward is not None:
            costs[node] = Cost(
                None if forward is None else forward.seconds,
                None if forward is None else forward.bytes,
                None if backward is None else backward.seconds,
                None if backward is None else backward.bytes,
            )
    return costs
