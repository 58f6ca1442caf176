"""HIPS autograd as a third engine: as much of the protocol as drawing its graphs takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Any, ClassVar, NamedTuple

import numpy as np
from autograd.core import VJPNode
from autograd.tracer import Box, new_box, trace_stack

from gradstep.contract.protocol import Engine
from gradstep.graph.statistics import Statistics, statistics
from gradstep.graph.statistics_table import StatisticsTable, statistics_of_each
from gradstep.records import GENERAL, LEAF, Extent

_number: Iterator[int] = count()


class HipsNode(VJPNode):  # type: ignore[misc]  # autograd has no types
    """A node that also remembers the function, and how large its result is."""

    __slots__ = (
        "function", "leaf", "number", "shape"
    )  # fmt: skip
    classes: ClassVar[dict[tuple[str, int], type[Seen]]] = {}

    def __init__(self, value: Any, fun: Any, *rest: Any) -> None:
        super().__init__(value, fun, *rest)
        self.function, self.leaf = fun.__name__, None
        self.number, self.shape = next(_number), np.shape(value)

    def initialize_root(self, value: Any) -> None:
        super().initialize_root()
        self.function, self.leaf = "AccumulateGrad", None
        self.number, self.shape = next(_number), np.shape(value)


class DType(NamedTuple):
    name: str = "float64"


class Seen:
    """A node as readers of a graph see it; there is a subclass for each function."""

    kind: ClassVar[int]
    leads_nowhere: ClassVar[bool] = False
    function: ClassVar[str]
    output_count, ported, hooks, is_freed, freed_at, record = 1, False, None, False, None, None
    output_dtype = DType()

    def __init__(self, node: HipsNode, edges: tuple[Any, ...]) -> None:
        self.node, self.edges = node, edges
        self.sequence_nr, self.output_shape = node.number, node.shape

    def name(self) -> str:
        return self.function

    def formulas(self) -> tuple[tuple[str, str], ...]:
        return ()

    def saved(self) -> Iterator[Any]:
        return iter(())

    def changed_at(self, name: str) -> tuple[Any, ...]:
        return ()


class SeenBox:
    """A root or a leaf as readers of a graph see it."""

    dtype, record, is_parameter, requires_grad = DType(), None, False, True

    def __init__(self, box: Box, edge: Seen) -> None:
        self.box, self.edge, self._shape = box, edge, np.shape(box._value)

    @property
    def gradstep_identity(self) -> int:
        return id(self.box)


class Plan(NamedTuple):
    order: list[Seen]


class HipsEngine(Engine):
    """What :class:`gradstep.contract.protocol.Engine` needs to draw; it steps through nothing."""

    name = "autograd"

    def owns(self, value: Any) -> bool:
        return isinstance(value, Box | SeenBox)

    def tensors(self, roots: Iterable[Any]) -> tuple[SeenBox, ...]:
        known: dict[HipsNode, Seen] = {}
        return tuple(SeenBox(root, _seen(root._node, known)) for root in roots)

    def plan(self, tensors: Sequence[SeenBox]) -> Plan:
        nodes: dict[Seen, None] = dict.fromkeys(tensor.edge for tensor in tensors)
        waiting = list(nodes)
        while waiting:
            for edge in waiting.pop().edges:
                if edge not in nodes:
                    nodes[edge] = None
                    waiting.append(edge)
        return Plan(sorted(nodes, key=lambda node: -node.sequence_nr))

    def leaf(self, node: Seen) -> SeenBox | None:
        return SeenBox(node.node.leaf, node) if node.kind == LEAF else None

    def user_tensor(self, tensor: Any) -> Any:
        return tensor.box if isinstance(tensor, SeenBox) else tensor

    def stem(self, node: Seen) -> str:
        return node.function

    def formula(self, node: Seen, kept: Any, names: Any) -> str:
        return ""

    def extent(self, value: Any) -> Extent | None:
        return None

    def is_input(self, value: Any) -> bool:
        return True

    def input_of(self, node: Seen, name: str) -> int | None:
        return None

    def statistics(self, gradient: Any) -> Statistics | None:
        return statistics(np.asarray(getattr(gradient, "_value", gradient)))

    def scalar_statistics(self, tensor: SeenBox) -> Statistics | None:
        value = np.asarray(tensor.box._value)
        return statistics(value) if value.size == 1 else None

    def all_statistics(self, gradients: Sequence[Any]) -> StatisticsTable:
        return statistics_of_each([None if g is None else np.asarray(g) for g in gradients])


HIPS = HipsEngine()  # type: ignore[abstract]  # it draws, and steps through nothing


def _seen(node: HipsNode, known: dict[HipsNode, Seen]) -> Seen:
    if node not in known:
        edges = tuple(_seen(parent, known) for parent in node.parents)
        kind = GENERAL if node.parents else LEAF
        found = HipsNode.classes.get((node.function, kind))
        if found is None:
            found = type(node.function, (Seen,), {"kind": kind, "function": node.function})
            HipsNode.classes[node.function, kind] = found
        known[node] = found(node, edges)
    return known[node]


def traced(function: Callable[..., Any], *values: Any) -> tuple[Box, list[Box]]:
    """Call ``function`` as autograd does to differentiate it; its result and its inputs, boxed."""
    with trace_stack.new_trace() as trace:
        boxes = [new_box(value, trace, HipsNode.new_root(value)) for value in values]
        for box in boxes:
            box._node.leaf = box
        return function(*boxes), boxes
