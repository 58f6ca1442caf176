"""HIPS autograd as a third engine: it reads graphs, and does nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from autograd.tracer import Box, new_box, trace_stack

from gradstep.contract.protocol import Engine, Reading
from gradstep.records import GENERAL, LEAF

_numbers: Final = count()
_classes: Final[dict[tuple[str, int], type[HipsNode]]] = {}


class DType(NamedTuple):
    name: str = "float64"


class HipsNode:
    """A node of autograd, in the place of its own ``VJPNode``; each function has a subclass."""

    kind: ClassVar[int]
    leads_nowhere: ClassVar[bool] = False
    output_count, ported, hooks, is_freed, freed_at, record = 1, False, None, False, None, None
    output_dtype = DType()
    leaf: Box = None
    edges: tuple[HipsNode, ...]
    sequence_nr: int
    output_shape: tuple[int, ...]

    def __new__(cls, value: Any, function: Any, *rest: Any) -> HipsNode:
        name = "AccumulateGrad" if function is None else function.__name__
        kind = LEAF if function is None else GENERAL
        if (name, kind) not in _classes:
            _classes[name, kind] = type(name, (HipsNode,), {"kind": kind})
        node = object.__new__(_classes[name, kind])
        node.edges = tuple(rest[-1]) if rest else ()
        node.sequence_nr, node.output_shape = next(_numbers), np.shape(value)
        return node

    def name(self) -> str:
        return type(self).__name__

    def formulas(self) -> tuple[tuple[str, str], ...]:
        return ()

    def saved(self) -> Any:
        return iter(())

    def changed_at(self, name: str) -> tuple[Any, ...]:
        return ()


class SeenBox:
    """A root or a leaf as readers of a graph see it."""

    dtype, record, is_parameter, requires_grad = DType(), None, False, True
    gradstep_library, gradstep_identity = "autograd", 0

    def __init__(self, box: Box, edge: HipsNode) -> None:
        self.box, self.edge, self._shape = box, edge, np.shape(box._value)
        self.gradstep_identity = id(box)


class Plan(NamedTuple):
    order: list[HipsNode]


class HipsReading(Reading):
    def owns(self, value: Any) -> bool:
        return isinstance(value, Box | SeenBox)

    def tensors(self, roots: Iterable[Any]) -> tuple[SeenBox, ...]:
        return tuple(r if isinstance(r, SeenBox) else SeenBox(r, r._node) for r in roots)

    def plan(self, tensors: Sequence[SeenBox]) -> Plan:
        nodes = dict.fromkeys(tensor.edge for tensor in tensors)
        waiting = list(nodes)
        while waiting:
            new = [edge for edge in waiting.pop().edges if edge not in nodes]
            nodes |= dict.fromkeys(new)
            waiting += new
        return Plan(sorted(nodes, key=lambda node: -node.sequence_nr))

    def leaf(self, node: HipsNode) -> SeenBox | None:
        return SeenBox(node.leaf, node) if node.kind == LEAF else None

    def user_tensor(self, tensor: Any) -> Any:
        return tensor.box if isinstance(tensor, SeenBox) else tensor


HIPS: Final = Engine(name="autograd", reading=HipsReading())


def traced(function: Callable[..., Any], *values: Any) -> tuple[Box, list[Box]]:
    """Call ``function`` as autograd does to differentiate it; its result and its inputs, boxed."""
    with trace_stack.new_trace() as trace:
        boxes = [new_box(value, trace, HipsNode(value, None)) for value in values]
        for box in boxes:
            box._node.leaf = box
        return function(*boxes), boxes
