"""The modules along a plan: for stepping over one, and out of one.

The plan runs through the modules backwards.  A leaf, which belongs to no module, counts to that
of the node before it; leaves would otherwise end every module they are used in.
"""

from __future__ import annotations

from gradstep.graph.addresses import in_scope
from gradstep.graph.model import Graph


class Scopes:
    """The scope of every plan node, and how far it reaches."""

    def __init__(self, graph: Graph, length: int) -> None:
        self._graph = graph
        self._length = length

    def of(self, index: int) -> str:
        """Return the scope in which node ``index`` runs."""
        kinds, scopes = self._graph.kinds, self._graph.scopes
        while index and kinds[index] != "op":
            index -= 1
        return scopes[index]

    def entered(self, position: int) -> str:
        """Return the outermost scope that begins at ``position``, "" when none does."""
        here, before = self.of(position), self.of(position - 1) if position else ""
        return _first_new(here, before)

    def left(self, position: int) -> str:
        """Return the outermost scope that ends just before ``position``, "" when none does."""
        after = self.of(position) if position < self._length else ""
        return _first_new(self.of(position - 1), after)

    def end(self, position: int, scope: str) -> int:
        """Return the first position from ``position`` on that is outside ``scope``."""
        while position < self._length and in_scope(self.of(position), scope):
            position += 1
        return position

    def start(self, position: int, scope: str) -> int:
        """Return the first position of the stretch of ``scope`` that ends before ``position``."""
        while position and in_scope(self.of(position - 1), scope):
            position -= 1
        return position

    def over(self, position: int) -> int:
        """Find where stepping over leads: behind the module that begins here, else one node on."""
        entered = self.entered(position)
        return self.end(position, entered) if entered else position + 1

    def back_over(self, position: int) -> int:
        """Return the same backwards: before the module that ends here, else one node back."""
        left = self.left(position)
        return self.start(position, left) if left else position - 1

    def out(self, position: int) -> int:
        """Behind the innermost module around ``position``; the end where there is none."""
        scope = self.of(position)
        return self.end(position, scope) if scope else self._length

    def back_out(self, position: int) -> int:
        """Before the first node of the innermost module around the node before ``position``."""
        scope = self.of(position - 1) if position else ""
        return self.start(position, scope) if scope else 0


def _first_new(scope: str, known: str) -> str:
    """Return the shortest scope around ``scope`` that does not lie around ``known``.

    >>> _first_new("encoder.0.attention.q", "encoder.1"), _first_new("a.b", "a.b.c")
    ('encoder.0', '')
    """
    parts = scope.split(".") if scope else []
    for count in range(1, len(parts) + 1):
        prefix = ".".join(parts[:count])
        if not in_scope(known, prefix):
            return prefix
    return ""
