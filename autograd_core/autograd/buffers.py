"""Where gradients wait for the nodes that they are for."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_core.autograd.node import Node, Port
from autograd_core.autograd.reduce import Gradient


class Buffers(dict[Node | Port, Gradient]):
    """Input buffers; one that is not listed is empty, as is one that holds None.

    The pass lists only what waits: few places at any time, so that the dictionary stays within
    the processor's caches whatever the size of the graph.
    """

    def __missing__(self, place: Node | Port) -> None:
        return None

    def take(self, node: Node, ports: Sequence[Port]) -> tuple[Gradient, ...]:
        """Empty the buffers of ``node``, one per output of its forward op."""
        if not node.ported:
            return (self.pop(node, None),)
        incoming: list[Gradient] = [None] * node.output_count
        for port in ports:
            incoming[port.nr] = self.pop(port, None)
        return tuple(incoming)

    def put_back(self, node: Node, ports: Sequence[Port], incoming: tuple[Gradient, ...]) -> None:
        """Fill the buffers of ``node`` with what they held."""
        if not node.ported:
            self[node] = incoming[0]
            return
        for port in ports:
            self[port] = incoming[port.nr]
