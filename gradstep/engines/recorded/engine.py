"""The engine of what was recorded: it tells, and computes nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradstep.engines.protocol import OWN_RESULT, CannotRerun, Engine, OnGradients, Rule
from gradstep.engines.recorded.call import RecordedCall
from gradstep.engines.recorded.driver import READ_ONLY, RecordedDriver
from gradstep.engines.recorded.nodes import (
    CallOfNodes,
    RecordedNode,
    RecordedPlan,
    RecordedTensor,
    SavedTensor,
)
from gradstep.engines.recorded.values import LIBRARY, RecordedValue
from gradstep.graph.folding.parts import subgraph
from gradstep.graph.model import LEAF_KINDS, RETURNED, Cost, Graph
from gradstep.graph.statistics import Statistics
from gradstep.graph.statistics_table import StatisticsTable
from gradstep.recording.errors import NotRecorded
from gradstep.records import Extent, Gradients, Profile, Step

T = TypeVar("T")


class RecordedEngine:
    """The engine of recorded calls; a tensor is seen as it is."""

    name = LIBRARY

    def owns(self, value: Any) -> bool:
        return isinstance(value, RecordedTensor)

    def edge_of(self, node: Any) -> None:
        return None

    def tensors(self, roots: Iterable[RecordedTensor]) -> tuple[RecordedTensor, ...]:
        return tuple(roots)

    def plan(self, tensors: Sequence[RecordedTensor]) -> RecordedPlan:
        return RecordedPlan(tensors[0].call.order)

    def known_graph(
        self, tensors: Sequence[RecordedTensor], view: str, steps: Sequence[Step]
    ) -> Graph:
        return drawn(tensors[0].call, view, [step.index for step in steps])

    def call(
        self, roots: Any, gradient: Any, retain_graph: bool | None, create_graph: bool
    ) -> NoReturn:
        raise NotRecorded(READ_ONLY)

    def run(self, call: RecordedCall) -> Gradients:
        return ()

    def settle_trace(self) -> None:
        pass

    def driver(
        self, call: RecordedCall, *, halting: bool = False, keep: bool = True
    ) -> RecordedDriver:
        return RecordedDriver(call)

    def kept_run(self, call: RecordedCall, on_gradients: OnGradients | None = None) -> None:
        """Return None: nothing can run."""

    def kept_tensor(self, node: RecordedNode, name: str, kept: SavedTensor) -> Any:
        return kept.value

    def seeds(self, call: RecordedCall) -> Sequence[RecordedValue | None]:
        return call.seeds

    def statistics(self, gradient: RecordedValue | RecordedTensor) -> Statistics | None:
        value = _value(gradient)
        return None if value is None else value.statistics

    def all_statistics(self, gradients: Sequence[Any]) -> StatisticsTable:
        return StatisticsTable.of([None if g is None else self.statistics(g) for g in gradients])

    def scalar_statistics(self, tensor: RecordedTensor) -> Statistics | None:
        statistics = self.statistics(tensor)
        return statistics if statistics is not None and statistics.size == 1 else None

    def checksums(self, tensors: Sequence[Any]) -> Sequence[None]:
        return [None] * len(tensors)

    def lengths(self, tensors: Sequence[Any]) -> Sequence[None]:
        return [None] * len(tensors)

    def moved(self, tensors: Sequence[Any], copies: Sequence[Any]) -> Sequence[None]:
        return [None] * len(tensors)

    def accumulated(self, call: RecordedCall) -> Sequence[RecordedTensor]:
        return () if call.is_grad else list(call.leaves.values())

    def may_run_user_code(self, call: RecordedCall) -> bool:
        return False

    def saved_results(self, order: Sequence[RecordedNode]) -> Mapping[Any, Any]:
        return {}

    def memory(self, tensor: RecordedTensor) -> None:
        """Return None: nothing is in use."""

    def version(self) -> str:
        return ""

    def array(self, gradient: RecordedValue | RecordedTensor) -> NDArray[np.generic] | None:
        value = _value(gradient)
        numbers = None if value is None else value.array()
        if numbers is not None and np.iscomplexobj(numbers):
            return np.asarray(np.abs(numbers))  # as the engine of PyTorch gives them
        return numbers

    def copy(self, tensor: RecordedValue | RecordedTensor) -> RecordedValue | None:
        return _value(tensor)

    def shown(self, gradient: RecordedValue) -> RecordedValue:
        return gradient

    def extent(self, value: SavedTensor) -> Extent | None:
        known = value.known
        return Extent(known.shape, known.dtype, known.nbytes) if known.dtype else None

    def tensor_extent(self, tensor: RecordedValue | RecordedTensor) -> Extent:
        dtype = tensor.dtype if isinstance(tensor.dtype, str) else tensor.dtype.name
        return Extent(tensor.shape, dtype, tensor.nbytes)

    def is_input(self, value: SavedTensor) -> bool:
        return False

    def is_detached(self, value: Any) -> bool:
        return False  # no file says so

    def input_of(self, node: RecordedNode, name: str) -> int | None:
        maker = next((kept.maker for saved, kept, _ in node.saved() if saved == name), None)
        if maker is None or maker == node.pair:
            return None if maker is None else OWN_RESULT
        makers = map(node.maker_of, range(len(node.edges)))
        return next((nr for nr, known in enumerate(makers) if known == maker), None)

    def leaf(self, node: RecordedNode) -> RecordedTensor | None:
        return node.leaf()

    def stem(self, node: RecordedNode) -> str:
        return ""

    def formula(self, node: RecordedNode, kept: Iterable[Any], names: Any) -> str:
        return ", ".join(rule for _, rule in node.formulas())

    def opaque(self, node: RecordedNode) -> str:
        return ""

    def user_tensor(self, tensor: Any) -> Any:
        return tensor

    def hooks(self, node: RecordedNode) -> Iterable[Mapping[int, Any]]:
        return ()

    def note_ops(self, *, on: bool) -> None:
        """Do nothing: no op runs."""

    def has_run(self, module: Any) -> bool:
        return False

    def departure(self, leaf: RecordedTensor) -> None:
        """Return None: only what led to the gradient is recorded."""

    def rerun(self, node: RecordedNode, wide: bool) -> NoReturn:
        raise CannotRerun(READ_ONLY)

    def rules(self, node: RecordedNode) -> Sequence[Rule]:
        return ()

    def rule_line(self, node: RecordedNode) -> None:
        """Return None: the lines of rules are not recorded."""

    def isolated(self, function: Callable[[], T]) -> T:
        return function()

    def origin(self, tensor: RecordedTensor) -> None:
        """Return None: the records of ops are not recorded."""

    def kept_forward(self, roots: Sequence[RecordedTensor], order: Sequence[RecordedNode]) -> None:
        """Return None, as above."""

    def is_profiled(self) -> bool:
        return False

    def measured(self, node: RecordedNode, seconds: float, nbytes: int) -> None:
        """Do nothing: what a node takes here is not what it took."""

    def costs(self, nodes: Iterable[RecordedNode], profile: Profile | None) -> Mapping[Any, Cost]:
        return {}

    def records(self, nodes: Sequence[RecordedNode]) -> Sequence[Any]:
        return [node.record for node in nodes]


def _value(known: RecordedValue | RecordedTensor) -> RecordedValue | None:
    return known.value if isinstance(known, RecordedTensor) else known


RECORDED: Final[Engine] = RecordedEngine()


def drawn(call: CallOfNodes, view: str, steps: Collection[int]) -> Graph:
    """Return one half of the graph of a call, or both, with the gradients of ``steps``."""
    graph = call.drawn
    if len(steps) < len(call.order):
        graph = _after(graph, set(steps), len(call.order))
    if view == "both":
        return graph
    ids = [id for id, half in enumerate(graph.halves) if half == view]
    kind = "gradient" if view == "backward" else "value"
    edges = [id for id, edge_kind in enumerate(graph.edge_kinds) if edge_kind == kind]
    derived = graph.derived_forward and view == "forward"
    part = subgraph(graph, ids, edges, view)
    return replace(part, part=None, pairs={}, derived_forward=derived)


def _after(graph: Graph, steps: set[int], length: int) -> Graph:
    """Return a graph with no more of the gradients than those of ``steps``."""

    def is_known(id: int) -> bool:
        return id >= length or id in steps

    details = list(graph.details)
    for id in range(length):
        of_step = graph.kinds[id] in LEAF_KINDS or details[id] == RETURNED
        if of_step and not is_known(id):
            details[id] = ""
    sources = graph.edge_sources
    return replace(
        graph,
        details=details,
        statistics={id: stats for id, stats in graph.statistics.items() if is_known(id)},
        undefined=frozenset(filter(is_known, graph.undefined)),
        edge_statistics={
            id: stats for id, stats in graph.edge_statistics.items() if is_known(sources[id])
        },
        edge_undefined=frozenset(id for id in graph.edge_undefined if is_known(sources[id])),
        hooks={id: hook for id, hook in graph.hooks.items() if is_known(id)},
        edge_hooks={id: hook for id, hook in graph.edge_hooks.items() if is_known(sources[id])},
    )
