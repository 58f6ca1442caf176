"""The places where values left their graph: ``detach`` and NumPy leave them behind under
tracing."""

from __future__ import annotations

from typing import Any
from weakref import ref

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.node import resolve
from autograd_core.tensor import Tensor
from autograd_core.tensor.stale_views import edge_of
from gradstep.contract.op_records import Cut, LeafRecord, Leaves, OpRecord, reachable

_MOST_NODES = 100_000  # so that logging in a loop over a huge graph does not walk it each time


def leaves_behind(tensor: Tensor) -> Leaves:
    """Return the leaves that require a gradient and that ``tensor`` was computed from, as far as
    its graph tells, or where it has none, its record; behind a cut, those that the cut knows."""
    edge = edge_of(tensor)
    start = None if edge is None else resolve(edge)[0]
    if start is None:  # also of a view that was made without gradients
        record = tensor.record
        cut = record if isinstance(record, Cut) else _cut_of(record)
        return _leaves_of(record) if cut is None else cut.leaves
    seen: dict[Any, None] = {start: None}
    stack: list[Any] = [start]
    leaves: list[ref[Tensor]] = []
    while stack and len(seen) < _MOST_NODES:
        node = stack.pop()
        if isinstance(node, AccumulateGrad):
            leaves.append(node.leaf)
            continue
        for edge in node.edges:
            target = resolve(edge)[0]
            if target is not None and target not in seen:
                seen[target] = None
                stack.append(target)
    return tuple(leaves)


def _leaves_of(record: Any) -> Leaves:
    maker = record[0] if isinstance(record, tuple) else None
    behind = reachable([maker]) if isinstance(maker, OpRecord) else []
    leaves = [
        record.tensor()
        for record in behind
        if isinstance(record, LeafRecord) and record.requires_grad
    ]
    return tuple([ref(leaf) for leaf in leaves if leaf is not None])


def _cut_of(record: Any) -> Cut | None:
    return getattr(record[0], "cut", None) if isinstance(record, tuple) else None
