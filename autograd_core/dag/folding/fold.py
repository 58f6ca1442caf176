"""From a graph to one that fits a screen."""

from __future__ import annotations

from collections.abc import Sequence

from autograd_core.dag.folding.building import TreeBuilder
from autograd_core.dag.folding.chains import find_heads
from autograd_core.dag.folding.choose import Options, choose
from autograd_core.dag.folding.columns import columns_of
from autograd_core.dag.folding.contract import contract
from autograd_core.dag.folding.units import make_units
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
    """``graph`` with at most ``max_boxes`` nodes for its ops, where scopes and repeats allow it.

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
    columns = columns_of(graph, halves)
    units = make_units(graph, columns, halves)
    if units is None or not len(units):
        return graph
    heads = find_heads(graph, units)
    root = TreeBuilder(graph, units, heads).build()
    ends = sum(
        kind in ("output", "seed") and half in halves
        for kind, half in zip(graph.kinds, graph.halves, strict=True)
    )
    items = choose(root, Options(max_boxes - ends, depth, tuple(expand)))
    if len(items) == len(units):
        return graph
    return contract(graph, columns, units, heads, items, halves)
