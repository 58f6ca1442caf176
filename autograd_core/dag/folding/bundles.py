"""Edges of a folded graph: those between the same boxes become one, with their count."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from autograd_core.dag.builder import GraphBuilder
from autograd_core.dag.columns import Ints
from autograd_core.dag.folding.columns import Columns
from autograd_core.dag.folding.totals import storages_of_edges
from autograd_core.dag.model import EdgeKind, Graph, HookChange
from autograd_core.dag.statistics import Statistics
from autograd_core.dag.statistics_columns import StatisticsColumns

T = TypeVar("T")


class _Bundle(NamedTuple):
    """Edges that run side by side; the first lends what all have in common."""

    output_nr: int
    input_nr: int
    edges: list[int]


def add_bundles(
    build: GraphBuilder, graph: Graph, columns: Columns, new_ids: Ints, ports: Mapping[int, int]
) -> None:
    """Add the edges between nodes that have become different ones, merged at closed boxes."""
    sources, targets = new_ids[columns.sources], new_ids[columns.targets]
    kept = (sources >= 0) & (targets >= 0) & (sources != targets)
    closed = np.array([kind == "group" for kind in build.kinds], np.bool_)
    at_box = kept & (closed[sources] | closed[targets])
    storages, described = storages_of_edges(graph), StatisticsColumns.of(graph.edge_statistics)
    bundles = _at_boxes(columns, np.flatnonzero(at_box), sources, targets, len(build.kinds))
    bundles += _between_ops(graph, columns, np.flatnonzero(kept & ~at_box), new_ids, ports)
    for bundle in sorted(bundles, key=lambda bundle: bundle.edges[0]):
        _add_bundle(build, graph, bundle, new_ids, storages, described)


def _at_boxes(
    columns: Columns, ids: Ints, sources: Ints, targets: Ints, count: int
) -> list[_Bundle]:
    """Bundle the edges at closed boxes by the boxes that they join: there may be very many."""
    keys = (columns.flows[ids] * count + sources[ids]) * count + targets[ids]
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    return [_Bundle(0, 0, part.tolist()) for part in np.split(ids[order], starts[1:]) if len(part)]


def _between_ops(
    graph: Graph, columns: Columns, ids: Ints, new_ids: Ints, ports: Mapping[int, int]
) -> list[_Bundle]:
    """Bundle edges between boxes of one op by the inputs and outputs that they join."""
    bundles: dict[Hashable, _Bundle] = {}
    for id in ids.tolist():
        source, target = graph.edge_sources[id], graph.edge_targets[id]
        output_nr, input_nr = graph.edge_output_nrs[id], graph.edge_input_nrs[id]
        key: Hashable = id
        if columns.flows[id]:
            output_nr, input_nr = ports.get(source, output_nr), ports.get(target, input_nr)
            key = int(new_ids[source]), int(new_ids[target]), output_nr, input_nr
        bundles.setdefault(key, _Bundle(output_nr, input_nr, [])).edges.append(id)
    return list(bundles.values())


def _add_bundle(
    build: GraphBuilder,
    graph: Graph,
    bundle: _Bundle,
    new_ids: Ints,
    storages: Mapping[int, int],
    described: StatisticsColumns,
) -> None:
    edges = bundle.edges
    first = edges[0]
    several, hooked = graph.edge_counts, graph.edge_hooks
    kind: EdgeKind = graph.edge_kinds[first]
    id = build.edge(
        kind,
        int(new_ids[graph.edge_sources[first]]),
        int(new_ids[graph.edge_targets[first]]),
        output_nr=bundle.output_nr,
        input_nr=bundle.input_nr,
        shape=_common(graph.edge_shapes, edges, None),
        dtype=_common(graph.edge_dtypes, edges, ""),
        label=graph.edge_labels.get(first, "") if len(edges) == 1 else "",
        nbytes=_bytes(graph, edges, storages),
        statistics=_statistics(described, edges),
        undefined=graph.edge_undefined.issuperset(edges),
        multiplicity=len(edges) + sum([several[id] - 1 for id in edges if id in several]),
    )
    changes = [graph.edge_hooks[each] for each in edges if each in hooked]
    if changes:
        names = dict.fromkeys(name for change in changes for name in change.hooks)
        pooled_change = HookChange(tuple(names), None, None)
        build.edge_hooks[id] = changes[0] if len(edges) == 1 else pooled_change


def _bytes(graph: Graph, edges: Sequence[int], storages: Mapping[int, int]) -> int:
    """Return bytes saved along these edges; memory that several nodes keep counts once."""
    sizes: dict[Hashable, int] = {}
    for id in edges if graph.edge_kinds[edges[0]] == "saved" else ():
        if nbytes := graph.edge_nbytes.get(id, 0):
            place: Hashable = storages.get(id)
            if place is None:
                place = graph.edge_sources[id], graph.edge_output_nrs[id], nbytes
            if sizes.get(place, 0) < nbytes:
                sizes[place] = nbytes
    return sum(sizes.values())


def _common(column: Sequence[T], edges: Sequence[int], otherwise: T) -> T:
    """Return what is the same for all edges, ``otherwise`` where nothing is."""
    first = column[edges[0]]
    for id in edges:
        each = column[id]
        if each is not first and each != first:
            return otherwise
    return first


def _statistics(described: StatisticsColumns, edges: Sequence[int]) -> Statistics | None:
    """Return those of all edges together, where all are known; else of the edge in worst
    trouble."""
    if len(edges) == 1:
        return described.get(edges[0])
    table = described.table(edges)
    return table.worst() if len(table.unknown()) else table.pooled()
