"""The numbers by which a page can colour the boxes of a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import NamedTuple

from gradstep.graph.folding.totals import saved_bytes_by
from gradstep.graph.model import PARAMETER_KINDS, Graph
from gradstep_viz.picture.model import Chip, Picture


class Measures(NamedTuple):
    """What is known of a box: the rms of the largest gradient that arrives, the seconds that it
    took, the bytes that it keeps for the backward pass, the parameters in it, the elements of what
    it gives, and its turn in the backward pass; those of a box of the forward half, but for the
    time and the elements, are those of its partner.  None for what is unknown."""

    gradient: float | None
    time: float | None
    memory: int | None
    parameters: int | None
    elements: int | None
    order: int | None


class BoxMeasures(NamedTuple):
    """What is known of a box, and of each row in it."""

    box: Measures
    rows: list[Measures]


def measures_of(graph: Graph, picture: Picture) -> list[BoxMeasures]:
    """Return what is known of each box of ``picture``, which shows ``graph``."""
    arriving: dict[int, float] = {}
    for edge, stats in graph.edge_statistics.items():
        if graph.edge_kinds[edge] == "gradient" and stats.rms == stats.rms:
            target = graph.edge_targets[edge]
            arriving[target] = max(stats.rms, arriving.get(target, 0.0))
    saved = saved_bytes_by(graph, range(len(graph)))
    return [
        BoxMeasures(
            _measures(graph, node, chips, arriving, saved),
            [_measures(graph, chip.node, [chip], arriving, saved) for chip in chips],
        )
        for node, chips in picture.boxes.rows("node", "chips")
    ]


def _measures(
    graph: Graph,
    node: int,
    chips: Sequence[Chip],
    arriving: Mapping[int, float],
    saved: Mapping[int, int],
) -> Measures:
    forward = graph.halves[node] == "forward"
    backward = graph.pairs.get(node, -1) if forward else node
    cost = graph.costs.get(node)
    seconds = None if cost is None else cost.forward_seconds if forward else cost.backward_seconds
    group = graph.groups.get(backward)
    kept = group.saved_bytes if group is not None else saved.get(backward)
    if group is not None and group.kind != "chain":
        parameters = group.parameters
    else:
        inside = [chip.node for chip in chips if graph.kinds[chip.node] in PARAMETER_KINDS]
        parameters = sum(prod(graph.shapes[id] or ()) for id in inside)
    shape, order = graph.shapes[node], graph.orders.get(backward)
    gradient = arriving.get(backward)
    if gradient is None and backward >= 0 and backward in graph.statistics:  # sums at nodes
        rms = graph.statistics[backward].rms
        gradient = rms if rms == rms else None
    return Measures(
        gradient, seconds, kept or None, parameters or None,
        None if shape is None else prod(shape), None if order is None else order + 1,
    )  # fmt: skip
