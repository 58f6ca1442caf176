"""The engine of what was recorded: it tells, and computes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from math import prod
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from gradstep.contract.protocol import OWN_RESULT, Engine, Reading
from gradstep.engines.recorded.call import (
    RecordedCall,
    RecordedNode,
    RecordedPlan,
    RecordedTensor,
    SavedTensor,
    UnreachedLeaf,
)
from gradstep.engines.recorded.driver import RecordedDriver
from gradstep.engines.recorded.values import LIBRARY, RecordedValue
from gradstep.graph.folding.parts import subgraph
from gradstep.graph.model import LEAF_KINDS, RETURNED, Graph, Shape
from gradstep.graph.statistics import Statistics
from gradstep.graph.statistics_table import StatisticsTable
from gradstep.records import Extent, Step

T = TypeVar("T")


def _value(known: RecordedValue | RecordedTensor) -> RecordedValue | None:
    return known.value if isinstance(known, RecordedTensor) else known


class RecordedReading(Reading):
    """Graphs of recorded calls; a tensor is seen as it is."""

    def owns(self, value: Any) -> bool:
        return isinstance(value, RecordedTensor | UnreachedLeaf)

    def tensors(self, roots: Iterable[RecordedTensor]) -> tuple[RecordedTensor, ...]:
        return tuple(roots)

    def plan(self, tensors: Sequence[RecordedTensor]) -> RecordedPlan:
        return RecordedPlan(tensors[0].call.order)

    def known_graph(
        self, tensors: Sequence[RecordedTensor], view: str, steps: Iterable[Step | int]
    ) -> Graph:
        indices = [step if isinstance(step, int) else step.index for step in steps]
        return drawn(tensors[0].call, view, indices)

    def leaf(self, node: RecordedNode) -> RecordedTensor | None:
        return node.leaf()

    def formula(self, node: RecordedNode, kept: Iterable[Any], names: Any) -> str:
        return ", ".join(rule for _, rule in node.formulas())

    def extent(self, value: SavedTensor | RecordedValue | RecordedTensor) -> Extent | None:
        if isinstance(value, SavedTensor):
            known = value.known
            return Extent(known.shape, known.dtype, known.nbytes) if known.dtype else None
        dtype = value.dtype if isinstance(value.dtype, str) else value.dtype.name
        return Extent(value.shape, dtype, value.nbytes)

    def is_input(self, value: SavedTensor) -> bool:
        return False

    def input_of(self, node: RecordedNode, name: str) -> int | None:
        maker = next((kept.maker for saved, kept, _ in node.saved() if saved == name), None)
        if maker is None or maker == node.pair:
            return None if maker is None else OWN_RESULT
        makers = map(node.maker_of, range(len(node.edges)))
        return next((nr for nr, known in enumerate(makers) if known == maker), None)


class RecordedNumbers:
    """What was recorded of tensors."""

    copy = staticmethod(_value)

    def statistics(self, gradient: RecordedValue | RecordedTensor) -> Statistics | None:
        value = _value(gradient)
        return None if value is None else value.statistics

    def all_statistics(self, gradients: Sequence[Any]) -> StatisticsTable:
        return StatisticsTable.of([None if g is None else self.statistics(g) for g in gradients])

    def scalar_statistics(self, tensor: RecordedTensor) -> Statistics | None:
        statistics = self.statistics(tensor)
        return statistics if statistics is not None and statistics.size == 1 else None

    def array(self, gradient: RecordedValue | RecordedTensor) -> NDArray[np.generic] | None:
        value = _value(gradient)
        numbers = None if value is None else value.array()
        if numbers is not None and np.iscomplexobj(numbers):
            return np.asarray(np.abs(numbers))  # as the engine of PyTorch gives them
        return numbers

    def part(self, tensor: RecordedValue | RecordedTensor) -> Shape | None:
        value = _value(tensor)
        known = None if value is None else value.statistics
        if value is None or known is None or value.shape is None:
            return None
        # how it was cut is not recorded
        return (known.size,) if known.size < prod(value.shape) else None

    def shown(self, gradient: RecordedValue) -> RecordedValue:
        return gradient

    def kept_tensor(self, node: RecordedNode, name: str, kept: SavedTensor) -> Any:
        return kept.value


class RecordedStepping:
    """Recorded calls, node by node."""

    told_later = None

    def driver(
        self, call: RecordedCall, *, halting: bool = False, keep: bool = True
    ) -> RecordedDriver:
        return RecordedDriver(call)

    def seeds(self, call: RecordedCall) -> Sequence[RecordedValue | None]:
        return call.seeds


RECORDED: Final = Engine(
    name=LIBRARY, reading=RecordedReading(), numbers=RecordedNumbers(), stepping=RecordedStepping()
)


def drawn(call: RecordedCall, view: str, steps: Collection[int]) -> Graph:
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
