"""Nodes and edges as arrays, for questions that are asked of all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from autograd_core.dag.columns import Ints
from autograd_core.dag.model import LEAF_KINDS, Graph, Half

Truths = NDArray[np.bool_]


class Columns(NamedTuple):
    """``shown``, ``is_leaf`` and ``is_backward`` are facts of nodes, the others of edges.

    An edge runs from ``sources`` to ``targets``; the value that it is about runs from ``producers``
    to ``readers``, against the flow of gradients.  ``flows`` is False for saved values.
    """

    shown: Truths
    is_leaf: Truths
    is_backward: Truths
    flows: Truths
    is_gradient: Truths
    sources: Ints
    targets: Ints
    producers: Ints
    readers: Ints


def columns_of(graph: Graph, halves: Sequence[Half]) -> Columns:
    """Return the columns of ``graph``, of which ``halves`` are shown."""
    sources = np.array(graph.edge_sources, np.int64)
    targets = np.array(graph.edge_targets, np.int64)
    is_gradient = np.array([kind == "gradient" for kind in graph.edge_kinds], np.bool_)
    return Columns(
        shown=np.array([half in halves for half in graph.halves], np.bool_),
        is_leaf=np.array([kind in LEAF_KINDS for kind in graph.kinds], np.bool_),
        is_backward=np.array([half == "backward" for half in graph.halves], np.bool_),
        flows=np.array([kind != "saved" for kind in graph.edge_kinds], np.bool_),
        is_gradient=is_gradient,
        sources=sources,
        targets=targets,
        producers=np.where(is_gradient, targets, sources),
        readers=np.where(is_gradient, sources, targets),
    )


def positions(nodes: Sequence[int], count: int) -> Ints:
    """Find where each of ``count`` nodes stands in ``nodes``, -1 for those that do not; a -1 there
    is no node.

    >>> positions([2, -1, 0], 4)
    array([ 2, -1,  0, -1])
    """
    row = np.array(nodes, np.int64)
    found = np.full(count, -1, np.int64)
    found[row[row >= 0]] = np.flatnonzero(row >= 0)
    return found
