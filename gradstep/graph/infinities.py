"""Infinite values of the forward pass that are no trouble: those that nothing infinite comes of, as
the −inf of an attention's mask, which a softmax makes 0."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import ClassVar, Literal

from gradstep.graph.model import Graph
from gradstep.graph.statistics import Statistics
from gradstep.graph.statistics_columns import StatisticsColumns


class AbsorbedInfinities(Statistics):
    """The statistics of a value whose infinite elements are no trouble."""

    __slots__ = ()
    trouble: ClassVar[Literal[""]] = ""


def troubled(graph: Graph) -> frozenset[int]:
    """Return the nodes whose values are NaN or infinite, without those forward nodes whose infinite
    values are absorbed: all that they lead to is finite again.

    A value that is unknown is what its consumers are; nothing vouches for one without consumers.
    """
    known = StatisticsColumns.of(graph.statistics)
    found = frozenset(known.troubled())
    infinite = {id for id in found if graph.halves[id] == "forward" and known[id].trouble == "inf"}
    return found - (infinite - _leading_to_trouble(graph)) if infinite else found


def without_absorbed(graph: Graph) -> Graph:
    """Return ``graph`` with :class:`AbsorbedInfinities` for the values that have them, at nodes and
    on edges."""
    if not _has_infinities(graph):
        return graph
    leading = _leading_to_trouble(graph)
    statistics = {
        id: AbsorbedInfinities(*one)
        for id, one in graph.statistics.items()
        if one.trouble == "inf" and graph.halves[id] == "forward" and id not in leading
    }
    edges = {
        id: AbsorbedInfinities(*one)
        for id, one in graph.edge_statistics.items()
        if one.trouble == "inf"
        and graph.edge_kinds[id] == "value"
        and graph.edge_targets[id] not in leading
    }
    return replace(
        graph,
        statistics={**dict(graph.statistics.items()), **statistics},
        edge_statistics={**dict(graph.edge_statistics.items()), **edges},
    )


def _has_infinities(graph: Graph) -> bool:
    nodes, edges = graph.statistics, graph.edge_statistics
    return any(True for known in (nodes, edges) for _ in StatisticsColumns.of(known).troubled())


def _leading_to_trouble(graph: Graph) -> frozenset[int]:
    """Return the forward nodes that are NaN, or infinite or unknown and lead to what is; and those
    infinite or unknown ones of which nobody knows what they lead to."""
    makers: dict[int, list[int]] = {}
    consumed = set()
    for kind, source, target in zip(
        graph.edge_kinds, graph.edge_sources, graph.edge_targets, strict=True
    ):
        if kind == "value":
            makers.setdefault(target, []).append(source)
            consumed.add(source)

    def is_open(id: int) -> bool:
        """Tell whether a value is not known to be finite."""
        stats = graph.statistics.get(id)
        return stats is None or bool(stats.trouble)

    def is_nan(id: int) -> bool:
        stats = graph.statistics.get(id)
        return stats is not None and stats.trouble == "nan"

    found = {
        id
        for id in range(len(graph))
        if graph.halves[id] == "forward" and (is_nan(id) or (id not in consumed and is_open(id)))
    }
    ahead = deque(found)
    while ahead:
        for id in makers.get(ahead.popleft(), ()):
            if id not in found and is_open(id):
                found.add(id)
                ahead.append(id)
    return frozenset(found)
