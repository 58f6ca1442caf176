"""Nodes and edges as arrays, for questions that are asked of all of them at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from gradstep.graph.columns import Ints, SmallInts, codes
from gradstep.graph.entries import Numbers
from gradstep.graph.model import LEAF_KINDS, EdgeKind, Graph, Half, NodeKind

Truths = NDArray[np.bool_]

NODE_KINDS: Final[tuple[NodeKind, ...]] = get_args(NodeKind)
EDGE_KINDS: Final[tuple[EdgeKind, ...]] = get_args(EdgeKind)
HALVES: Final[tuple[Half, ...]] = get_args(Half)


class FoldingColumns(NamedTuple):
    """``shown`` to ``partners`` are facts of nodes, the others of edges.

    ``is_op`` marks ops and groups of them, ``partners`` are the nodes of the other half, -1 for
    none. An edge runs from ``sources`` to ``targets``; the value that it is about runs from
    ``producers`` to ``readers``, against the flow of gradients. ``flows`` is False for saved
    values.
    """

    shown: Truths
    is_op: Truths
    is_leaf: Truths
    is_end: Truths
    is_backward: Truths
    partners: SmallInts
    flows: Truths
    is_gradient: Truths
    sources: SmallInts
    targets: SmallInts
    producers: SmallInts
    readers: SmallInts


def columns_of(graph: Graph, halves: Sequence[Half]) -> FoldingColumns:
    """Return the columns of ``graph``, of which ``halves`` are shown."""
    kinds, edge_kinds = codes(graph.kinds, NODE_KINDS), codes(graph.edge_kinds, EDGE_KINDS)
    half_of = codes(graph.halves, HALVES)
    sources = np.array(graph.edge_sources, np.int32)
    targets = np.array(graph.edge_targets, np.int32)
    is_gradient = among(("gradient",), EDGE_KINDS)[edge_kinds]
    return FoldingColumns(
        shown=among(halves, HALVES)[half_of],
        is_op=among(("op", "group"), NODE_KINDS)[kinds],
        is_leaf=among(LEAF_KINDS, NODE_KINDS)[kinds],
        is_end=among(("output", "seed"), NODE_KINDS)[kinds],
        is_backward=among(("backward",), HALVES)[half_of],
        partners=Numbers.of(graph.pairs).column(len(graph)),
        flows=among(("value", "gradient"), EDGE_KINDS)[edge_kinds],
        is_gradient=is_gradient,
        sources=sources,
        targets=targets,
        producers=np.where(is_gradient, targets, sources),
        readers=np.where(is_gradient, sources, targets),
    )


def among(chosen: Collection[str], words: Sequence[str]) -> Truths:
    """Mark which of ``words`` are ``chosen``."""
    return np.array([word in chosen for word in words], np.bool_)


def positions(row: Ints, count: int) -> Ints:
    """Find where each of ``count`` nodes stands in ``row``, -1 for those that do not; a -1 there
    is no node.

    >>> positions(np.array([2, -1, 0]), 4)
    array([ 2, -1,  0, -1])
    """
    places = np.full(count, -1, np.int64)
    places[row[row >= 0]] = np.flatnonzero(row >= 0)
    return places
