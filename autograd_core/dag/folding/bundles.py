"""Edges of a folded graph: those between the same boxes become one, with their count."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from autograd_core.dag.model import EdgeKind, Graph, GraphBuilder, Shape
from autograd_core.dag.statistics import Statistics
from autograd_core.dag.totals import storages_of_edges


@dataclass(slots=True)
class _Bundle:
    """Edges that run side by side; ``first`` lends what all have in common."""

    first: int
    output_nr: int
    input_nr: int
    edges: list[int] = field(default_factory=list)


def add_bundles(
    build: GraphBuilder, graph: Graph, new_ids: Sequence[int], ports: Mapping[int, int]
) -> None:
    """Add the edges between nodes that have become different ones, merged at closed boxes."""
    bundles: dict[Hashable, _Bundle] = {}
    closed = {id for id, kind in enumerate(build.kinds) if kind == "group"}
    rows = zip(graph.edge_kinds, graph.edge_sources, graph.edge_targets, strict=True)
    for id, (kind, old_source, old_target) in enumerate(rows):
        source, target = new_ids[old_source], new_ids[old_target]
        if source < 0 or target < 0 or source == target:
            continue
        output_nr, input_nr = graph.edge_output_nrs[id], graph.edge_input_nrs[id]
        if source in closed or target in closed:
            output_nr = input_nr = 0
            key: Hashable = (kind, source, target)
        elif kind == "saved":
            key = id
        else:
            output_nr = ports.get(old_source, output_nr)
            input_nr = ports.get(old_target, input_nr)
            key = (kind, source, target, output_nr, input_nr)
        bundle = bundles.get(key)
        if bundle is None:
            bundle = bundles[key] = _Bundle(id, output_nr, input_nr)
        bundle.edges.append(id)
    storages = storages_of_edges(graph)
    for bundle in bundles.values():
        _add_bundle(build, graph, bundle, new_ids, storages)


def _add_bundle(
    build: GraphBuilder,
    graph: Graph,
    bundle: _Bundle,
    new_ids: Sequence[int],
    storages: Mapping[int, int],
) -> None:
    first, edges = bundle.first, bundle.edges
    kind: EdgeKind = graph.edge_kinds[first]
    shapes: set[Shape | None] = {graph.edge_shapes[id] for id in edges}
    dtypes = {graph.edge_dtypes[id] for id in edges}
    build.edge(
        kind,
        new_ids[graph.edge_sources[first]],
        new_ids[graph.edge_targets[first]],
        output_nr=bundle.output_nr,
        input_nr=bundle.input_nr,
        shape=shapes.pop() if len(shapes) == 1 else None,
        dtype=dtypes.pop() if len(dtypes) == 1 else "",
        label=graph.edge_labels.get(first, "") if len(edges) == 1 else "",
        nbytes=_bytes(graph, edges, storages),
        statistics=_statistics(graph, edges),
        undefined=all(id in graph.edge_undefined for id in edges),
        multiplicity=sum(graph.edge_counts.get(id, 1) for id in edges),
    )


def _bytes(graph: Graph, edges: Sequence[int], storages: Mapping[int, int]) -> int:
    """Bytes saved along these edges; memory that several nodes keep counts once."""
    sizes: dict[Hashable, int] = {}
    for id in edges:
        if nbytes := graph.edge_nbytes.get(id, 0):
            line = (graph.edge_sources[id], graph.edge_output_nrs[id], nbytes)
            place = storages.get(id, line)
            sizes[place] = max(nbytes, sizes.get(place, 0))
    return sum(sizes.values())


def _statistics(graph: Graph, edges: Sequence[int]) -> Statistics | None:
    """Those of a single edge, else those of the edge in worst trouble."""
    if len(edges) == 1:
        return graph.edge_statistics.get(edges[0])
    found = (graph.edge_statistics.get(id) for id in edges)
    return max(
        (stats for stats in found if stats is not None and stats.trouble),
        key=lambda stats: (bool(stats.nans), stats.nans, stats.infs),
        default=None,
    )
