"""Where a tensor of the core came from: its record, found or made."""

from __future__ import annotations

from typing import Any
from weakref import ref

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.node import notes_of, resolve
from autograd_core.autograd.saved import SavedNode
from autograd_core.autograd.version import INFERENCE
from autograd_core.tensor import Tensor
from gradstep.contract.op_records import Cut, LeafRecord, Origin, Reference
from gradstep.graph.statistics import Statistics, statistics


def refer(tensor: Tensor) -> Reference | None:
    """Return a reference to the numbers of ``tensor``; None of one whose changes nobody counts."""
    versions = tensor.version
    if versions is None:
        versions = tensor.version = [0]
    return None if versions is INFERENCE else (tensor.array, versions, versions[0])


def origin(tensor: Tensor) -> Origin | int | float:
    """Find where ``tensor`` came from: its record and output number, or the number it wraps."""
    record = tensor.record
    if (leaf := leaf_record(tensor)) is not None:
        record = tensor.record = (leaf, 0)
    elif record is None or isinstance(record, Cut):
        record = tensor.record = _result(tensor) or (_leaf_of(tensor, record), 0)
    origin: Origin | int | float = record
    return origin


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
    record: LeafRecord = end.record or _leaf_of(tensor)
    record.tensor = end.leaf  # which `tensor` may only stand for
    if not record.shape or tensor.array.size == 1:
        record.statistics = scalar_statistics(tensor)  # training changes it from pass to pass
    notes_of(end).record = record
    return record


def is_number(value: Any) -> bool:
    """Return whether ``value`` is a Python number in the guise of a tensor."""
    return isinstance(value, Tensor) and isinstance(value.record, (int, float))


def scalar_statistics(tensor: Tensor) -> Statistics | None:
    """Return the value of a single number; a larger tensor is not looked over unasked."""
    return statistics(tensor.array) if tensor.array.size == 1 else None


def _leaf_of(tensor: Tensor, cut: Cut | None = None) -> LeafRecord:
    """Return a record of a tensor, which it knows weakly."""
    known = tensor._shape, tensor.dtype.name, tensor.requires_grad, scalar_statistics(tensor)
    return LeafRecord(ref(tensor), *known, cut)
