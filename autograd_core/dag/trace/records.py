"""Records that tracing leaves on nodes and tensors; they lead to those of the inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any, Final
from weakref import ref

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.grad_mode import is_grad_enabled
from autograd_core.autograd.node import resolve
from autograd_core.autograd.saved import SavedNode
from autograd_core.dag.model import Source
from autograd_core.dag.statistics import Statistics, statistics
from autograd_core.dag.trace.cut import Cut, Departure
from autograd_core.dag.trace.inputs import Copy
from autograd_core.tensor import Tensor

next_number = count().__next__


class LeafRecord:
    """A tensor with which a graph begins: a leaf, a parameter, or a constant.

    It belongs to no scope and no line.  ``cut`` says where it was taken out of a graph,
    ``departure`` where a value that was computed from it last became a NumPy array or a number.
    ``called`` is what the program called it where it was first used, None before that is known.
    """

    __slots__ = (
        "__weakref__", "called", "copies", "cut", "departure", "dtype", "number", "requires_grad",
        "shape", "statistics", "tensor",
    )  # fmt: skip

    scope: Final = ""
    source: Final = None

    def __init__(
        self,
        tensor: Callable[[], Any],
        shape: tuple[int, ...],
        dtype: str,
        requires_grad: bool,
        statistics: Statistics | None,
        cut: Cut | None = None,
    ) -> None:
        self.number = next_number()
        self.cut = cut
        self.called: str | None = None
        self.departure: Departure | None = None
        self.copies: dict[int, ref[Copy]] = {}
        self.tensor = tensor
        self.shape = shape
        self.dtype = dtype
        self.requires_grad = requires_grad
        self.statistics = statistics

    @classmethod
    def of(cls, tensor: Tensor, cut: Cut | None = None) -> LeafRecord:
        """Return the record of a tensor of the core, which it knows weakly."""
        known = tensor._shape, tensor.dtype.name, tensor.requires_grad, scalar_statistics(tensor)
        return cls(ref(tensor), *known, cut)


class OpRecord:
    """An op that ran: name, inputs, attributes, where in the modules, where in the source.

    ``inputs`` holds, per input, the record it came from and which of that op's outputs it
    was; a Python number stands for itself.  ``grad_mode`` says whether gradients were on,
    ``pointwise`` whether it works element by element.
    """

    __slots__ = (
        "__weakref__", "attributes", "copies", "dtype", "grad_mode", "inputs", "name", "number",
        "pointwise", "requires_grad", "scope", "shapes", "source", "statistics",
    )  # fmt: skip

    def __init__(self, name: str, inputs: tuple[Any, ...], attributes: Mapping[str, Any]) -> None:
        self.number = next_number()
        self.name = name
        self.inputs = inputs
        self.attributes = attributes
        self.copies: dict[int, ref[Copy]] = {}
        self.pointwise = False
        self.requires_grad = False
        self.grad_mode = is_grad_enabled()
        self.scope = ""
        self.source: Source | None = None
        self.shapes: tuple[tuple[int, ...], ...] = ()
        self.dtype = ""
        self.statistics: Statistics | None = None


Record = OpRecord | LeafRecord
Origin = tuple[Record, int]


def origin(tensor: Tensor) -> Origin | int | float:
    """Find where ``tensor`` came from: its record and output number, or the number it wraps."""
    record = tensor.record
    if (leaf := leaf_record(tensor)) is not None:
        record = tensor.record = (leaf, 0)
    elif record is None or isinstance(record, Cut):
        record = tensor.record = _result(tensor) or (LeafRecord.of(tensor, record), 0)
    found: Origin | int | float = record
    return found


def _result(tensor: Tensor) -> Origin | None:
    """Return the op that made ``tensor`` by its place in the graph: of a saved result, or of a
    tensor that stands for another one, this is all there is."""
    maker, nr = resolve(tensor.edge)
    if maker is None or maker.record is None:
        return None
    if isinstance(maker, SavedNode) and maker.op.outputs and maker.op.view != "each":
        nr = maker.op.output_numbers[maker.op.differentiable_outputs[nr]]
    return maker.record, nr


def leaf_record(tensor: Tensor) -> LeafRecord | None:
    """Return the record of ``tensor`` as a leaf that requires a gradient, None if it is none.

    Whatever computed or changed its values, the graph begins with it.  The record hangs on its
    AccumulateGrad, so that both halves of a graph lead to the same one.
    """
    end = tensor.edge
    if type(end) is not AccumulateGrad:
        return None
    record: LeafRecord = end.record or LeafRecord.of(tensor)
    record.tensor = end.leaf  # which `tensor` may only stand for
    record.statistics = scalar_statistics(tensor)  # training changes it from pass to pass
    end.record = record
    return record


def reachable(roots: Iterable[Record]) -> list[Record]:
    """Return everything the roots lead to, in the order of creation."""
    seen: dict[Record, None] = dict.fromkeys(roots)
    stack = list(seen)
    while stack:
        record = stack.pop()
        if isinstance(record, OpRecord):
            for found in record.inputs:
                if isinstance(found, tuple) and found[0] not in seen:
                    seen[found[0]] = None
                    stack.append(found[0])
    return sorted(seen, key=lambda record: record.number)


def is_number(value: Any) -> bool:
    """Return whether ``value`` is a Python number in the guise of a tensor."""
    return isinstance(value, Tensor) and isinstance(value.record, (int, float))


def scalar_statistics(tensor: Tensor) -> Statistics | None:
    """Return the value of a single number; a larger tensor is not looked over unasked."""
    return statistics(tensor.array) if tensor.array.size == 1 else None
