"""The leaves behind values that leave their graph, by ``detach`` or for NumPy."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary, ref

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.node import Node, notes_of, resolve
from autograd_core.tensor import Tensor
from autograd_core.tensor.stale_views import edge_of
from gradstep.contract.op_records import Cut, LeafRecord, Leaves, OpRecord


class Behind:
    """Which leaves are behind nodes and records.

    It remembers its answers, so that a value that leaves in each round of a loop makes it walk what
    that round has added.
    """

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Any, Leaves] = WeakKeyDictionary()

    def tensor(self, tensor: Tensor) -> Leaves:
        """Return the leaves that require a gradient and that ``tensor`` was computed from, as far
        as its graph tells, or where it has none, its record; behind a cut, those that the cut
        knows."""
        edge = edge_of(tensor)
        start = None if edge is None else resolve(edge)[0]
        if start is not None:
            return self._behind(start)
        record = tensor.record  # also of a view that was made without gradients
        maker = record[0] if isinstance(record, tuple) else None
        cut = record if isinstance(record, Cut) else getattr(maker, "cut", None)
        if cut is not None:
            return cut.leaves
        return self._behind(maker) if isinstance(maker, OpRecord) else ()

    def _behind(self, start: Any) -> Leaves:
        branch = start  # where several ways begin, as of a result of which each part leaves
        while (leaves := self._find(branch)) is None and len(before := _before(branch)) == 1:
            (branch,) = before
        if leaves is None:
            leaves = self._known[_key(branch)] = self._walk(branch)
        self._known[_key(start)] = leaves
        return leaves

    def _walk(self, start: Any) -> Leaves:
        seen, stack = {start}, [start]
        leaves: dict[int, ref[Any]] = {}  # by identity: equal references ask their tensors
        while stack:
            one = stack.pop()
            for leaf in self._find(one) or _leaf(one):
                leaves[id(leaf)] = leaf
            for each in () if self._find(one) is not None else _before(one):
                if each not in seen:
                    seen.add(each)
                    stack.append(each)
        return tuple(leaves.values())

    def _find(self, one: Any) -> Leaves | None:
        key = one.notes if isinstance(one, Node) else one
        return None if key is None else self._known.get(key)


def _key(one: Any) -> Any:
    return notes_of(one) if isinstance(one, Node) else one


def _before(one: Any) -> list[Any]:
    """Return the nodes or records that a node or record leads to."""
    if isinstance(one, OpRecord):
        return [origin[0] for origin in one.inputs if isinstance(origin, tuple)]
    edges = one.edges if isinstance(one, Node) else ()
    return [target for edge in edges if (target := resolve(edge)[0]) is not None]


def _leaf(one: Any) -> Leaves:
    if isinstance(one, AccumulateGrad):
        return (one.leaf,)
    if not (isinstance(one, LeafRecord) and one.requires_grad):
        return ()
    leaf: Any = one.tensor
    return (leaf,)
