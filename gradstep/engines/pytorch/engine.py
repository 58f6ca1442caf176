"""PyTorch, as readers of graphs see an engine; only what lies in here imports torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Final, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from gradstep.contract.insides import Insides
from gradstep.contract.op_records import Departure
from gradstep.contract.profiling import is_profiling
from gradstep.contract.protocol import OWN_RESULT, Engine, Measured, Reading, Rerun, Rule
from gradstep.engines.pytorch.alike import keep_places, take_places
from gradstep.engines.pytorch.calls import Arguments, TorchCall
from gradstep.engines.pytorch.checksums import checksums
from gradstep.engines.pytorch.entry import call_from, run
from gradstep.engines.pytorch.formulas import entry_of, formula, rules_with_names
from gradstep.engines.pytorch.kept_forward import (
    TorchKeptForward,
    kept_constants,
    op_of,
    saved_results,
)
from gradstep.engines.pytorch.names import stem
from gradstep.engines.pytorch.nodes import (
    TorchGraph,
    TorchLeaf,
    TorchNode,
    hooks_of,
)
from gradstep.engines.pytorch.order import plan_of
from gradstep.engines.pytorch.origins import Origins, current
from gradstep.engines.pytorch.private import (
    TensorBase,
    base_of,
    functions,
    grad_enabled,
    hooks_of_module,
    part_of_module,
    schema_of,
    settings,
    state_of_scaler,
    unobserved,
    view_of,
)
from gradstep.engines.pytorch.stepping.driver import TorchDriver
from gradstep.engines.pytorch.stepping.measuring import is_finite, measured
from gradstep.engines.pytorch.stepping.ran import carry_out
from gradstep.engines.pytorch.stepping.told_later import told_later
from gradstep.engines.pytorch.tensors import (
    SavedTensor,
    SeenTensor,
    array_of,
    copy_of,
    describe,
    describe_all,
    extent_of,
    here,
    is_plain,
    is_single,
    is_small,
    part_shape,
    shape_of,
    version_of,
)
from gradstep.engines.pytorch.walking import walked
from gradstep.graph import statistics
from gradstep.graph.model import Cost, Source
from gradstep.graph.statistics import Statistics
from gradstep.records import Extent, Profile

T = TypeVar("T")


def _measured(node: TorchNode, seconds: float, nbytes: int) -> None:
    node.cost = Cost(backward_seconds=seconds, backward_bytes=nbytes)


def lengths(tensors: Sequence[Any]) -> list[float | None]:
    """Return the norm of each tensor, None of one that has no numbers."""
    with unobserved(), grad_enabled(False):
        lengths = [
            statistics.length(view_of(TensorBase.detach(tensor))) if is_plain(tensor) else None
            for tensor in tensors
        ]
    others = [at for at, tensor in enumerate(tensors) if lengths[at] is None and tensor is not None]
    for at, norm in zip(others, measured([tensors[at] for at in others]), strict=True):
        lengths[at] = norm
    return lengths


def moved(tensors: Sequence[Any], copies: Sequence[Any]) -> list[float | None]:
    """Return how far each tensor is from its copy, and make that as the tensor is now; None of one
    for which this cannot be done."""
    distances: list[float | None] = [None] * len(tensors)
    apart: dict[int, Any] = {}
    with unobserved(), grad_enabled(False):
        for at, (tensor, copy) in enumerate(zip(tensors, copies, strict=True)):
            if is_plain(tensor) and is_plain(copy):
                distances[at] = statistics.moved(view_of(TensorBase.detach(tensor)), view_of(copy))
                continue
            now, then = here(tensor), here(copy)
            if now is None or then is None or (shape := shape_of(now)) is None:
                continue  # a nested one has parts
            if shape == shape_of(then):
                # it may be on another device now
                with suppress(RuntimeError, NotImplementedError):
                    difference = TensorBase.sub(TensorBase.detach(now), then)
                    TensorBase.copy_(then, TensorBase.detach(now))
                    apart[at] = difference
    for at, distance in zip(apart, lengths(list(apart.values())), strict=True):
        distances[at] = distance
    return distances


class TorchReading(Reading):
    """Graphs of PyTorch; nodes and tensors are seen through objects that stand for them."""

    plan = staticmethod(plan_of)
    formula = staticmethod(formula)
    hooks = staticmethod(hooks_of)

    def owns(self, value: Any) -> bool:
        return isinstance(value, torch.Tensor | torch.autograd.graph.GradientEdge | SeenTensor)

    def edge_of(self, node: Any) -> Any:
        graph = torch.autograd.graph
        return graph.GradientEdge(node, 0) if isinstance(node, graph.Node) else None

    def tensors(self, roots: Iterable[Any]) -> tuple[SeenTensor, ...]:
        graph = TorchGraph(current.get() or Origins())
        return tuple(root if isinstance(root, SeenTensor) else graph.tensor(root) for root in roots)

    def leaf(self, node: TorchNode) -> SeenTensor | None:
        return node.tensor if isinstance(node, TorchLeaf) else None

    def user_tensor(self, tensor: Any) -> Any:
        return tensor.origin if isinstance(tensor, SeenTensor) else tensor

    def stem(self, node: TorchNode) -> str:
        return "conv_transpose" if node.transposed else stem(node.name())

    def opaque(self, node: TorchNode) -> str:
        return node.opaque

    def extent(self, value: Any) -> Extent | None:
        if not isinstance(value, SavedTensor):
            with unobserved():
                return extent_of(value)
        extent = value.extent
        # as PyTorch wraps what is written in the program
        return None if value.number is not None and extent.dtype in _OF_NUMBERS else extent

    def is_input(self, value: Any) -> bool:
        return not value.is_result

    def input_of(self, node: TorchNode, name: str) -> int | None:
        entry = entry_of(node.name())
        op = op_of(entry)
        given = None if op is None else {argument.name for argument in schema_of(op).arguments}
        if name.startswith("result") or not (given is None or name.partition("[")[0] in given):
            return OWN_RESULT
        rules = () if entry is None or len(entry.rules) != len(node.edges) else entry.rules
        return next((at for at, (rule, _) in enumerate(rules) if rule == name), None)


class TorchNumbers:
    """The numbers of PyTorch's tensors."""

    all_statistics = staticmethod(describe_all)
    part = staticmethod(part_shape)
    copy = staticmethod(copy_of)

    def statistics(self, gradient: Any) -> Statistics | None:
        return describe(gradient) if isinstance(gradient, torch.Tensor) else None

    def scalar_statistics(self, tensor: SeenTensor | torch.Tensor) -> Statistics | None:
        origin: Any = tensor
        if isinstance(tensor, SeenTensor):
            origin = tensor.origin if tensor.number is None else tensor.number
        if not isinstance(origin, torch.Tensor):
            return None
        with unobserved():
            if TensorBase.numel(origin) != 1:
                return None
            if is_small(origin):
                return statistics.of_number(TensorBase.item(origin))
        return describe(origin)

    def array(self, gradient: Any) -> NDArray[np.generic] | None:
        return array_of(gradient) if isinstance(gradient, torch.Tensor) else None

    def shown(self, gradient: torch.Tensor) -> torch.Tensor:
        return gradient  # the recording keeps copies of what may change

    def kept_tensor(self, node: TorchNode, name: str, kept: Any) -> torch.Tensor | None:
        return None if kept is None else node.value_of(name)


class TorchRunning:
    """Calls of PyTorch's autograd engine."""

    run = staticmethod(run)
    carry_out = staticmethod(carry_out)
    unseen = staticmethod(unobserved)
    checksums = staticmethod(checksums)
    lengths = staticmethod(lengths)
    moved = staticmethod(moved)

    def call(
        self, roots: Any, gradient: Any, retain_graph: bool | None, create_graph: bool
    ) -> TorchCall:
        tensors = (roots,) if isinstance(roots, torch.Tensor) else tuple(roots)
        given = (gradient,) if isinstance(gradient, torch.Tensor) else gradient
        seeds = tuple(_seed(tensor) for tensor in tensors) if given is None else tuple(given)
        keep = create_graph if retain_graph is None else retain_graph
        arguments = Arguments(tensors, seeds, keep, create_graph, ())
        return call_from(arguments, _READING.tensors(tensors), ())

    def accumulated(self, call: TorchCall) -> list[torch.Tensor]:
        if call.is_grad:
            return []
        if call.inputs:
            given = [each.origin for each in call.inputs if isinstance(each.origin, torch.Tensor)]
            with unobserved():  # PyTorch warns of whoever reads the .grad of another
                return [tensor for tensor in given if tensor.is_leaf or tensor.retains_grad]
        return list(walked(call).leaves)

    def keeps_finite(self, call: TorchCall) -> bool:
        origins = current.get()
        if origins is None or call.graph or call.inputs:
            return False
        with unobserved():
            return walked(call).keeps_finite(origins)

    def made_finite(self, call: TorchCall, returned: Any) -> bool:
        with unobserved():
            return is_finite(call, returned, [leaf.grad for leaf in walked(call).leaves])

    def may_run_user_code(self, call: TorchCall) -> bool:
        origins = current.get() or Origins()
        if origins.has_dispatch_mode:
            return True
        with unobserved():
            return walked(call).has_user_code(origins)

    def reads_unwritten(self, call: TorchCall) -> bool:
        ops = (current.get() or Origins()).ops
        roots = [root for root in call.arguments.outputs if isinstance(root, torch.Tensor)]
        return ops is not None and any(map(ops.reads_unwritten, roots))

    def memory(self, tensor: Any) -> int | None:
        is_cuda = isinstance(tensor, torch.Tensor) and tensor.is_cuda
        return int(torch.cuda.memory_allocated(tensor.device)) if is_cuda else None


class TorchStepping:
    """Passes of PyTorch, node by node."""

    driver = TorchDriver
    told_later = staticmethod(told_later)

    def seeds(self, call: TorchCall) -> Sequence[Any]:
        return call.seeds


class TorchRules:
    """PyTorch's derivative rules."""

    def rules(self, node: TorchNode) -> list[Rule]:
        return list(rules_with_names(node))

    def rerun(self, node: TorchNode, wide: bool) -> Rerun:
        # only checks need it
        from gradstep.engines.pytorch.rerun import rerun_of

        return rerun_of(node, wide)

    def rule_line(self, node: TorchNode) -> Source | None:
        # as above
        from gradstep.engines.pytorch.rerun import rule_of

        return rule_of(node)

    def isolated(self, function: Callable[[], T]) -> T:
        # as above
        from gradstep.engines.pytorch.rerun import apart

        return apart(function)


class TorchTracing:
    """What is traced of PyTorch's ops, at once."""

    settle = None

    def note_ops(self, *, on: bool, modules: bool = True) -> None:
        if (origins := current.get()) is not None:
            origins.note(on=on, modules=modules)

    def describe_ops(self, *, on: bool) -> bool:
        origins = current.get()
        if origins is None or origins.recorder is None or not origins.noting or origins.is_aside:
            return False
        origins.ops = origins.recorder if origins.recorder.switch(on=on) else None
        return origins.ops is not None

    def drop_trace(self, nodes: Sequence[TorchNode]) -> None:
        if nodes:
            nodes[0].graph.drop_trace()

    def has_run(self, module: Any) -> bool:
        return module in (current.get() or Origins()).modules

    def departure(self, leaf: torch.Tensor) -> Departure | None:
        recorder = (current.get() or Origins()).recorder
        return None if recorder is None else recorder.departures.of(leaf)


class TorchPlaces:
    """Lines and modules of nodes, by graphs that are alike."""

    keep_places = staticmethod(keep_places)
    take_places = staticmethod(take_places)

    def taken_from(self, node: TorchNode) -> str:
        return node.graph.origins.taken_from(node.sequence_nr)


class TorchForward:
    """What PyTorch's graphs tell of the forward pass."""

    saved_results = staticmethod(saved_results)
    kept_constants = staticmethod(kept_constants)

    def kept_forward(self, roots: Sequence[Any], order: Sequence[TorchNode]) -> TorchKeptForward:
        return TorchKeptForward(_READING.tensors(roots), order)


class TorchProfiling:
    """What nodes of PyTorch take."""

    def measuring(self) -> Measured | None:
        return _measured if is_profiling() else None

    def costs(self, nodes: Iterable[TorchNode], profile: Profile | None) -> dict[TorchNode, Cost]:
        # of forward ops nothing is known: they ran before anybody asked
        return {node: node.cost for node in nodes if node.cost is not None}


def _seed(tensor: torch.Tensor) -> torch.Tensor:
    if not is_single(tensor):
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    return functions.ones_like(tensor, memory_format=torch.preserve_format)


_OF_NUMBERS: Final = ("bool", "int64", "float64")

_READING: Final = TorchReading()
PYTORCH: Final = Engine(
    name="torch", version=str(torch.__version__), settings=settings,
    reading=_READING, numbers=TorchNumbers(),
    running=TorchRunning(), stepping=TorchStepping(), rules=TorchRules(), tracing=TorchTracing(),
    places=TorchPlaces(), forward=TorchForward(), profiling=TorchProfiling(),
)  # fmt: skip
INSIDES: Final = Insides(part_of_module, hooks_of_module, state_of_scaler, version_of, base_of)
