"""The numbers by which a page can colour the boxes of a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from gradstep.graph.model import Graph
from gradstep.graph.saved_columns import SavedColumns
from gradstep_viz.picture.model import Picture


class Measures(NamedTuple):
    """What is known of a box: the rms of the largest gradient that arrives, the seconds that it
    took, and the bytes that it keeps for the backward pass; those of a box of the forward half,
    but for the time, are those of its partner.  None for what is unknown."""

    gradient: float | None
    time: float | None
    memory: int | None


def measures_of(graph: Graph, picture: Picture) -> list[Measures]:
    """Return what is known of each box of ``picture``, which shows ``graph``."""
    arriving: dict[int, float] = {}
    for edge, stats in graph.edge_statistics.items():
        if graph.edge_kinds[edge] == "gradient" and stats.rms == stats.rms:
            target = graph.edge_targets[edge]
            arriving[target] = max(stats.rms, arriving.get(target, 0.0))
    saved = SavedColumns.of(graph.saved)
    return [_measures(graph, node, arriving, saved) for node in picture.boxes.column("node")]


def _measures(
    graph: Graph, node: int, arriving: Mapping[int, float], saved: SavedColumns
) -> Measures:
    forward = graph.halves[node] == "forward"
    backward = graph.pairs.get(node, -1) if forward else node
    cost = graph.costs.get(node)
    seconds = None if cost is None else cost.forward_seconds if forward else cost.backward_seconds
    group = graph.groups.get(backward)
    values = saved.get(backward, ())
    kept = group.saved_bytes if group is not None else sum(value.nbytes for value in values)
    return Measures(arriving.get(backward), seconds, kept or None)
