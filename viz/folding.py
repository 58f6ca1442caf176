"""The part of a graph that is drawn, folded as finely as the options allow."""

from __future__ import annotations

from autograd_core.dag.addresses import UnknownAddress, find_nodes, find_turn
from autograd_core.dag.folding import Folding, neighbourhood, part_between
from autograd_core.dag.folding.fold import BOTH
from autograd_core.dag.model import Graph
from viz.errors import NothingToDraw, UnknownNode
from viz.options import HOPS, RenderOptions
from viz.picture.leaves import box_count


def chosen_part(graph: Graph, options: RenderOptions) -> Graph:
    """The part of ``graph`` that the options ``around`` and ``path`` choose.

    Raises:
        UnknownNode: nothing in the graph goes by the name of ``around`` or of an end of ``path``.
        NothingToDraw: no way leads from the one end of ``path`` to the other.
    """
    try:
        if options.path is not None:
            start, dots, end = options.path.partition("..")
            if not (start and dots and end):
                raise UnknownNode(
                    f"'{options.path}' is no path", remedy="write two nodes, as in loss..fc1.weight"
                )
            ends = _find(graph, start), _find(graph, end)
            between = part_between(graph, *ends, (start, end))
            if between is None:
                raise NothingToDraw(
                    f"no way leads from '{start}' to '{end}'", remedy="choose other ends"
                )
            graph = between
        if options.around is not None:
            hops = HOPS if options.hops is None else options.hops
            graph = neighbourhood(graph, _find(graph, options.around), hops, options.around)
    except UnknownAddress as error:
        raise UnknownNode(error.what, remedy=error.remedy) from None
    return graph


def _find(graph: Graph, text: str) -> tuple[int, ...]:
    return find_turn(graph, text) if text.startswith("#") else find_nodes(graph, text)


def folding_of(graph: Graph, view: str) -> Folding:
    """``graph`` made ready for pictures of ``view``."""
    return Folding(graph, tuple(half for half in BOTH if view in ("both", half)))


def folded(folding: Folding, options: RenderOptions) -> tuple[Graph, tuple[str, ...]]:
    """Its graph in no more boxes than the options allow, and notes on where that was not possible.

    Raises:
        UnknownNode: nothing that is folded goes by a name in ``expand``.
    """
    if options.full:
        return folding.graph, ()
    graph = folding.graph
    most = options.most_boxes
    allowed = most
    for _ in range(2):
        try:
            small = folding.fold(allowed, options.depth, options.expand)
        except UnknownAddress as error:
            raise UnknownNode(error.what, remedy=error.remedy) from None
        boxes = box_count(small, options.view, options.leaves)
        if boxes <= most or options.depth is not None or len(small) == len(graph):
            break
        allowed -= boxes - most  # leaves with boxes of their own
    if boxes <= most or options.folds:
        return small, ()
    note = f"{boxes:,} boxes: there are no more scopes or repeats to fold"
    return small, (f"{note}; the options around and path show a part",)
