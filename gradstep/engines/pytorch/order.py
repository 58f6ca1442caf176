"""The order in which PyTorch's engine runs nodes, foretold."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from gradstep.engines.pytorch.nodes import TorchNode
from gradstep.records import Port


class TorchPlan(NamedTuple):
    """Nodes in the order in which they run."""

    order: Sequence[TorchNode]


class ReadyQueue:
    """The engine's queue of nodes whose gradients are complete: the highest number first.

    Of equal numbers, which the leaves have, the order is that of libstdc++'s binary heap
    (``push_heap``, ``pop_heap``), which is what PyTorch's builds for Linux use.

    >>> queue = ReadyQueue()
    >>> for number in (1, 3, 2):
    ...     queue.push(number, f"node {number}")
    >>> [queue.pop() for _ in range(len(queue))]
    ['node 3', 'node 2', 'node 1']
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, Any]] = []

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, number: int, node: Any) -> None:
        heap, entry = self._heap, (number, node)
        heap.append(entry)
        if len(heap) > 1:
            self._raise(len(heap) - 1, entry)

    def _raise(self, hole: int, entry: tuple[int, Any]) -> None:
        heap = self._heap
        while hole and heap[(hole - 1) // 2][0] < entry[0]:
            heap[hole] = heap[(hole - 1) // 2]
            hole = (hole - 1) // 2
        heap[hole] = entry

    def pop(self) -> Any:
        heap = self._heap
        first, last = heap[0], heap.pop()
        size = len(heap)
        if size:
            hole = child = 0
            while child < (size - 1) // 2:
                child = 2 * (child + 1)
                if heap[child][0] < heap[child - 1][0]:
                    child -= 1
                heap[hole] = heap[child]
                hole = child
            if size % 2 == 0 and child == (size - 2) // 2:
                child = 2 * child + 1
                heap[hole] = heap[child]
                hole = child
            self._raise(hole, last)
        return first[1]


def plan_of(tensors: Sequence[Any]) -> TorchPlan:
    """Return what a pass from ``tensors``, which lie on one graph, runs."""
    edges = tuple([tensor.edge for tensor in tensors])
    plans = tensors[0].graph.plans
    if edges not in plans:
        plans[edges] = plan_from(edges)
    plan: TorchPlan = plans[edges]
    return plan


def plan_from(places: Iterable[Any], only: Collection[TorchNode] | None = None) -> TorchPlan:
    """Return what a pass from ``places`` runs; ``only`` these nodes, where they are given."""
    first = list(dict.fromkeys(map(owner, places)))
    waiting: dict[TorchNode, int] = dict.fromkeys(first, 0)
    stack = list(first)
    while stack:
        for edge in stack.pop().edges:
            if edge is None:
                continue
            node: Any = edge.node if type(edge) is Port else edge  # as owner, without the call
            known = waiting.get(node)
            if known is None:
                stack.append(node)
                known = 0
            waiting[node] = known + 1
    ready = ReadyQueue()
    for node in first:
        if not waiting[node]:
            ready.push(node.sequence_nr, node)
    order = []
    while ready:
        node = ready.pop()
        if only is None or node in only:
            order.append(node)
        for edge in node.edges:
            if edge is None:
                continue
            target: Any = edge.node if type(edge) is Port else edge
            left = waiting[target] = waiting[target] - 1
            if not left:
                ready.push(target.sequence_nr, target)
    return TorchPlan(order)


def leading_to(places: Iterable[Any], plan: TorchPlan) -> set[TorchNode]:
    """Return the nodes of ``plan`` from which a gradient gets to one of ``places``, and these."""
    owners = set(map(owner, places))
    for node in reversed(plan.order):
        if any(edge is not None and owner(edge) in owners for edge in node.edges):
            owners.add(node)
    return owners


def owner(place: Any) -> TorchNode:
    """Return the node that a gradient arriving at ``place`` is for."""
    node: Any = place.node if type(place) is Port else place
    owning: TorchNode = node
    return owning
