"""Edges of a folded graph: those between the same boxes become one, with their count."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from gradstep.graph.builder import GraphBuilder
from gradstep.graph.columns import Ints
from gradstep.graph.folding.columns import FoldingColumns, Truths
from gradstep.graph.folding.totals import saved_of_edges
from gradstep.graph.model import EdgeKind, Graph, HookChange
from gradstep.graph.saved_columns import SavedColumns
from gradstep.graph.statistics import Statistics
from gradstep.graph.statistics_columns import StatisticsColumns

T = TypeVar("T")


class _Bundle(NamedTuple):
    """Edges that run side by side; the first lends what all have in common."""

    output_nr: int
    input_nr: int
    edges: list[int]


def add_bundles(
    build: GraphBuilder,
    graph: Graph,
    columns: FoldingColumns,
    new_ids: Ints,
    ports: Mapping[int, int],
) -> None:
    """Add the edges between nodes that have become different ones, merged at closed boxes."""
    sources, targets = new_ids[columns.sources], new_ids[columns.targets]
    kept = (sources >= 0) & (targets >= 0) & (sources != targets)
    closed = np.array([kind == "group" for kind in build.kinds], np.bool_)
    at_box = kept & (closed[sources] | closed[targets])
    memory, described = _memory_of(graph), StatisticsColumns.of(graph.edge_statistics)
    others = StatisticsColumns.of(graph.edge_others)
    bundles = _at_boxes(columns, np.flatnonzero(at_box), sources, targets, len(build.kinds))
    bundles += _between_ops(graph, columns, np.flatnonzero(kept & ~at_box), new_ids, ports)
    for bundle in sorted(bundles, key=lambda bundle: bundle.edges[0]):
        id = _add_bundle(build, graph, bundle, new_ids, memory, described)
        other = _statistics(others, bundle.edges) if graph.edge_others else None
        if other is not None:
            build.edge_others[id] = other


def _at_boxes(
    columns: FoldingColumns, ids: Ints, sources: Ints, targets: Ints, count: int
) -> list[_Bundle]:
    """Bundle the edges at closed boxes by the boxes that they join: there may be very many."""
    keys = (columns.flows[ids] * count + sources[ids]) * count + targets[ids]
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    return [_Bundle(0, 0, part.tolist()) for part in np.split(ids[order], starts[1:]) if len(part)]


def _between_ops(
    graph: Graph, columns: FoldingColumns, ids: Ints, new_ids: Ints, ports: Mapping[int, int]
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
    memory: _Memory,
    described: StatisticsColumns,
) -> int:
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
        nbytes=_bytes(memory, edges) if kind == "saved" else 0,
        statistics=_statistics(described, edges),
        undefined=graph.edge_undefined.issuperset(edges),
        multiplicity=len(edges) + sum([several[id] - 1 for id in edges if id in several]),
    )
    changes = [graph.edge_hooks[edge] for edge in edges if edge in hooked]
    if changes:
        names = dict.fromkeys(name for change in changes for name in change.hooks)
        pooled_change = HookChange(tuple(names), None, None)
        build.edge_hooks[id] = changes[0] if len(edges) == 1 else pooled_change
    return id


class _Memory(NamedTuple):
    """For each edge the bytes that are saved along it, a number for where they lie, and whether
    they belong to a parameter or a buffer."""

    sizes: Ints
    places: Ints
    owned: Truths


def _memory_of(graph: Graph) -> _Memory:
    count, known = graph.edge_count, graph.edge_nbytes
    sizes, places = np.zeros(count, np.int64), np.full(count, -1, np.int64)
    owned = np.zeros(count, np.bool_)
    sizes[np.fromiter(known.keys(), np.int64, len(known))] = np.fromiter(
        known.values(), np.int64, len(known)
    )
    saved = SavedColumns.of(graph.saved)
    for id, at in saved_of_edges(graph, saved).items():
        storage, memory = saved.storages[at], saved.memories[at]
        if storage is not None:
            places[id] = storage
        owned[id] = memory is not None and bool(memory.owner)
    # where it is unknown, equal values of the same output are one
    sources, nrs = graph.edge_sources, graph.edge_output_nrs
    numbers: dict[tuple[int, int, int], int] = {}
    first = int(places.max(initial=-1)) + 1
    for id in np.flatnonzero((places < 0) & (sizes > 0)).tolist():
        value = sources[id], nrs[id], known[id]
        places[id] = first + numbers.setdefault(value, len(numbers))
    return _Memory(sizes, places, owned)


def _bytes(memory: _Memory, edges: Sequence[int]) -> int:
    """Return bytes saved along these edges; memory that several nodes keep counts once, and that of
    parameters and buffers only where there is no other."""
    owned = memory.owned[edges]
    ids = np.array(edges, np.int64) if owned.all() else np.array(edges, np.int64)[~owned]
    sizes, places = memory.sizes[ids], memory.places[ids]
    order = np.lexsort((sizes, places))
    largest = np.diff(places[order], append=-2) != 0  # the last one of each place
    return int(sizes[order][largest].sum())


def _common(column: Sequence[T], edges: Sequence[int], otherwise: T) -> T:
    """Return what is the same for all edges, ``otherwise`` where nothing is."""
    first = column[edges[0]]
    for id in edges:
        value = column[id]
        if value is not first and value != first:
            return otherwise
    return first


def _statistics(described: StatisticsColumns, edges: Sequence[int]) -> Statistics | None:
    """Return those of all edges together, where all are known; else of the edge in worst
    trouble."""
    if len(edges) == 1:
        only: Statistics | None = described.get(edges[0])
        return only
    table = described.table(edges)
    return table.worst() if len(table.unknown()) else table.pooled()
