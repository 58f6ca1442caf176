"""From a graph to one that fits a screen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from autograd_core.dag.folding.building import TreeBuilder
from autograd_core.dag.folding.chains import Heads, find_heads
from autograd_core.dag.folding.choose import Options, choose
from autograd_core.dag.folding.columns import columns_of
from autograd_core.dag.folding.contract import contract
from autograd_core.dag.folding.tree import Fold
from autograd_core.dag.folding.units import Units, make_units
from autograd_core.dag.model import Graph, Half

BOTH: tuple[Half, Half] = ("forward", "backward")


def fold(
    graph: Graph,
    halves: Sequence[Half] = BOTH,
    *,
    max_boxes: int = 60,
    depth: int | None = None,
    expand: Sequence[str] = (),
) -> Graph:
    """Return ``graph`` with at most ``max_boxes`` nodes for its ops, where scopes and repeats allow
    it.

    Shape ops join the op that they serve.  Then the finest level is chosen that fits; both
    halves fold alike.  Only scopes, repeats and shape ops are folded: a graph without them stays
    as large as it is.  The time is that of a few passes over the graph.

    Args:
        halves: those that are shown, and count.
        depth: open scopes down to this depth and no further, whatever it costs.
        expand: what opens in any case: scopes by their path, rounds of a loop by ``t=3``.

    Raises:
        UnknownAddress: nothing that is folded goes by a name in ``expand``.
    """
    return Folding(graph, halves).fold(max_boxes, depth, expand)


class Folding:
    """A graph made ready to be folded, several times if need be: what is alike in it is found once.

    Attributes:
        graph: the whole graph.
    """

    def __init__(self, graph: Graph, halves: Sequence[Half] = BOTH) -> None:
        self.graph = graph
        self._halves = halves
        self._columns = columns_of(graph, halves)
        self._ends = sum(
            kind in ("output", "seed") and half in halves
            for kind, half in zip(graph.kinds, graph.halves, strict=True)
        )

    @cached_property
    def _parts(self) -> tuple[Units, Heads, Fold] | None:
        """Its ops, which op each serves, and the tree of its folds; None where there are no ops."""
        units = make_units(self.graph, self._columns, self._halves)
        if units is None or not len(units):
            return None
        heads = find_heads(self.graph, units)
        return units, heads, TreeBuilder(self.graph, units, heads).build()

    def fold(
        self, max_boxes: int = 60, depth: int | None = None, expand: Sequence[str] = ()
    ) -> Graph:
        """Fold it; arguments and errors as for :func:`fold`."""
        if self._parts is None:
            return self.graph
        units, heads, root = self._parts
        items = choose(root, Options(max_boxes - self._ends, depth, tuple(expand)))
        if len(items) == len(units):
            return self.graph
        return contract(self.graph, self._columns, units, heads, items, self._halves)
