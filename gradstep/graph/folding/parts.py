"""Parts of a graph: what lies around a node, and what lies between two."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args, get_origin, get_type_hints

from gradstep.graph.columns import int_column
from gradstep.graph.folding.totals import totals
from gradstep.graph.model import Graph, Part, Totals
from gradstep.graph.saved_columns import SavedColumns


def neighbourhood(graph: Graph, centers: Sequence[int], hops: int, name: str = "") -> Graph:
    """Return the nodes that are at most ``hops`` edges away from ``centers``, in any direction,
    each with its partner in the other half; ``name`` is what the centers are called."""
    links = _links(graph, both_ways=True)
    seen = _with_partners(graph, centers)
    edge = list(seen)
    for _ in range(hops):
        reached = {other for id in edge for other in links[id]} - seen
        edge = sorted(_with_partners(graph, reached) - seen)
        seen.update(edge)
    return _chosen(graph, seen, f"around {name or graph.address(centers[0])}")


def part_between(
    graph: Graph, ends: Sequence[int], others: Sequence[int], names: tuple[str, str] | None = None
) -> Graph | None:
    """Return the nodes on the ways between ``ends`` and ``others``, in whichever direction they go;
    None when there is no way.  ``names`` is what the two are called."""
    one, other = _with_partners(graph, ends), _with_partners(graph, others)
    forward = _links(graph, both_ways=False)
    against = _reversed(forward)
    on_the_way = (_reach(forward, one) & _reach(against, other)) | (
        _reach(forward, other) & _reach(against, one)
    )
    start, end = names or (graph.address(ends[0]), graph.address(others[0]))
    return _chosen(graph, on_the_way, f"from {start} to {end}") if on_the_way else None


def _links(graph: Graph, *, both_ways: bool) -> list[list[int]]:
    links: list[list[int]] = [[] for _ in range(len(graph))]
    edges = zip(graph.edge_kinds, graph.edge_sources, graph.edge_targets, strict=True)
    for kind, source, target in edges:
        if kind != "saved":
            links[source].append(target)
            if both_ways:
                links[target].append(source)
    return links


def _reversed(links: list[list[int]]) -> list[list[int]]:
    against: list[list[int]] = [[] for _ in links]
    for source, targets in enumerate(links):
        for target in targets:
            against[target].append(source)
    return against


def _reach(links: list[list[int]], start: Iterable[int]) -> set[int]:
    seen = set(start)
    stack = list(seen)
    while stack:
        for target in links[stack.pop()]:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return seen


def _with_partners(graph: Graph, ids: Iterable[int]) -> set[int]:
    chosen = set(ids)
    return chosen | {graph.pairs[id] for id in chosen if id in graph.pairs}


_KINDS = {name: (get_origin(kind), *get_args(kind)) for name, kind in get_type_hints(Graph).items()}
_OF_EACH = [name for name, (kind, *_) in _KINDS.items() if kind is Sequence and name != "calls"]
_OF_SOME = [name for name, kind in _KINDS.items() if kind[:2] == (Mapping, int) and name != "saved"]
"""The columns that have an entry for each, or for some, of the nodes, or of the edges."""


def _chosen(graph: Graph, chosen: set[int], which: str) -> Graph:
    """Return the chosen nodes and the edges among them."""
    ends = enumerate(zip(graph.edge_sources, graph.edge_targets, strict=True))
    edges = [id for id, (source, target) in ends if source in chosen and target in chosen]
    return subgraph(graph, sorted(chosen), edges, which)


def subgraph(
    graph: Graph,
    ids: Sequence[int],
    edges: Sequence[int],
    which: str,
    total: Totals | None = None,
) -> Graph:
    """Return the nodes ``ids`` and the ``edges`` among them; ``which`` says which part of the graph
    that is, and ``total`` are the totals of the graph where they are known."""
    number = {id: index for index, id in enumerate(ids)}
    edge_number = {id: index for index, id in enumerate(edges)}

    columns: dict[str, Any] = {}
    for name in _OF_EACH:
        column = getattr(graph, name)
        chosen = [column[id] for id in (edges if name.startswith("edge_") else ids)]
        columns[name] = int_column(chosen) if isinstance(column, array) else chosen
    for name in _OF_SOME:
        column = getattr(graph, name)
        numbers = edge_number if name.startswith("edge_") else number
        known = () if isinstance(column, dict) and not column else numbers.items()
        columns[name] = {new: entry for old, new in known if (entry := column.get(old)) is not None}
    columns |= {
        "saved": SavedColumns.of(graph.saved).part(number),
        "pairs": {new: number[old] for new, old in columns["pairs"].items() if old in number},
        "undefined": frozenset(new for old, new in number.items() if old in graph.undefined),
        "edge_sources": int_column([number[id] for id in columns["edge_sources"]]),
        "edge_targets": int_column([number[id] for id in columns["edge_targets"]]),
        "edge_undefined": frozenset(
            new for old, new in edge_number.items() if old in graph.edge_undefined
        ),
    }
    return replace(graph, **columns, unfolded=None, part=_part(graph, which, total))


def _part(graph: Graph, which: str, whole: Totals | None) -> Part:
    """Return what part of the whole graph it is; a part of a part is one of the whole."""
    if graph.part is None:
        return Part(which, whole or totals(graph))
    return Part(f"{graph.part.which}, {which}", graph.part.whole)
