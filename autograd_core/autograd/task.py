"""What a backward pass consists of before it runs: a plan, and gradients that wait."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Self

from autograd_core.autograd.deliver import Gradient
from autograd_core.autograd.node import Node, Port
from autograd_core.autograd.plan import make_plan, owner


class Buffers(dict[Node | Port, Gradient]):
    """Input buffers; one that is not listed is empty, as is one that holds None.

    The pass lists only what waits: few places at any time, so that the dictionary stays within
    the processor's caches whatever the size of the graph.
    """

    def __missing__(self, place: Node | Port) -> None:
        return None


class PlannedTask:
    """The state of one backward pass: its plan, and the gradients that wait in input buffers.

    ``pending`` maps every place a gradient can arrive at (a node, or a port of one) to the
    sum of what has arrived there so far, None for nothing.  All state is here, none on the
    nodes, so that passes can nest, run in several threads, be paused and be forked.
    """

    __slots__ = (
        "__weakref__", "_captures", "_ends", "captured", "graph", "keep", "order", "pending",
        "plan", "ports", "restricted",
    )  # fmt: skip

    def __init__(
        self,
        roots: Sequence[Node | Port],
        seeds: Sequence[Gradient],
        *,
        keep: bool = False,
        graph: bool = False,
    ) -> None:
        """Plan a pass from ``roots``, where the gradients ``seeds`` enter.

        ``keep`` is PyTorch's ``retain_graph``; ``graph`` its ``create_graph``, with tensors
        for gradients.
        """
        self.plan = plan = make_plan(roots)  # of the whole pass; `order` may be a part of it
        self.order = plan.order
        self.ports = plan.ports
        self.pending: dict[Node | Port, Gradient] = Buffers()
        self.keep = keep
        self.graph = graph
        self.captured: dict[Node | Port, Gradient] = {}
        self._captures: dict[Node, list[Node | Port]] = {}  # the places of each node
        self.restricted = False  # to what some places need
        self._ends: set[Node] = set()  # of these nodes, those that run for nothing else
        for root, seed in zip(roots, seeds, strict=True):
            present = self.pending[root]
            self.pending[root] = seed if present is None else present + seed

    def fork(self, pending: dict[Node | Port, Gradient]) -> Self:
        """A pass over the same plan that goes its own way from what ``pending`` holds."""
        other = type(self).__new__(type(self))
        for name in PlannedTask.__slots__:
            if name != "__weakref__":
                setattr(other, name, getattr(self, name))
        other.pending = Buffers(pending)
        other.captured = {}
        return other

    def restrict(self, places: Sequence[Node | Port]) -> None:
        """Plan no more than what leads to ``places``, their own nodes included."""
        self.restricted = True
        wanted = {owner(place) for place in places}
        needed = self._leading_to(wanted)
        self.order = [node for node in self.order if node in needed or node in wanted]

    def capture(self, places: Sequence[Node | Port]) -> None:
        """Plan no more than what it takes to know the gradients that arrive at ``places``.

        They come to ``captured``, and nothing is accumulated; None stands for a place that
        nothing reached.
        """
        self.restricted = True
        self.captured = dict.fromkeys(places)
        for place in self.captured:
            self._captures.setdefault(owner(place), []).append(place)
        wanted = set(self._captures)
        needed = self._leading_to(wanted)
        self._ends = wanted - needed
        self.order = [node for node in self.order if node in needed or node in wanted]

    def _leading_to(self, wanted: set[Node]) -> set[Node]:
        """The nodes of the plan that send gradients towards ``wanted``."""
        needed: set[Node] = set()
        for node in reversed(self.order):
            if any(owner(e) in needed or owner(e) in wanted for e in node.edges if e is not None):
                needed.add(node)
        return needed

    def _take(self, node: Node) -> tuple[Gradient, ...]:
        """Empty the input buffers of ``node``."""
        pending = self.pending
        if not node.ported:
            return (pending.pop(node, None),)
        incoming: list[Gradient] = [None] * node.output_count
        for port in self.ports.get(node, ()):
            incoming[port.nr] = pending.pop(port, None)
        return tuple(incoming)

    def _put_back(self, node: Node, incoming: tuple[Gradient, ...]) -> None:
        """Fill the input buffers of ``node`` with what they held."""
        if not node.ported:
            self.pending[node] = incoming[0]
            return
        for port in self.ports.get(node, ()):
            self.pending[port] = incoming[port.nr]


running: ContextVar[PlannedTask | None] = ContextVar("autograd_core_running", default=None)
"""The pass that is at work, of passes within passes the innermost one."""
