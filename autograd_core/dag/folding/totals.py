"""Totals of a graph, for captions, and of the memory that the backward pass keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod

import numpy as np

from autograd_core.dag.columns import Ints
from autograd_core.dag.model import PARAMETER_KINDS, Graph, Half, Totals
from autograd_core.dag.saved_columns import SavedColumns


def totals(graph: Graph) -> Totals:
    """Return the totals of ``graph``, of the whole one if it is a folded one."""
    if graph.unfolded is not None:
        return graph.unfolded
    counts = Counter(zip(graph.kinds, graph.halves, strict=True))
    for id, group in graph.groups.items():  # of a part of a folded graph
        counts["op", graph.halves[id]] += group.ops - (graph.kinds[id] == "op")
    return Totals(
        ops=counts["op", "forward"],
        leaves=counts["leaf", "forward"] + counts["parameter", "forward"],
        constants=counts["constant", "forward"] + counts["frozen", "forward"],
        grad_fns=counts["op", "backward"],
        leaf_gradients=_leaf_gradients(graph),
        saved_bytes=saved_bytes(graph),
        parameters=_parameters(graph),
    )


def _parameters(graph: Graph) -> int:
    """Return the elements of all parameters, of the forward half where there is one."""
    half: Half = "forward" if "forward" in graph.halves else "backward"
    ids = [id for id, kind in enumerate(graph.kinds) if kind in PARAMETER_KINDS]
    return sum(prod(graph.shapes[id] or ()) for id in ids if graph.halves[id] == half)


def _leaf_gradients(graph: Graph) -> int:
    """Return the AccumulateGrads; 0 where none of them runs."""
    ids = [id for id, name in enumerate(graph.names) if name == "AccumulateGrad"]
    return len(ids) if any(id in graph.orders for id in ids) else 0


def saved_bytes(graph: Graph) -> int:
    """Return bytes kept for the backward pass; memory that several nodes keep counts once."""
    return saved_bytes_by(graph, [0] * len(graph)).get(0, 0)


def saved_bytes_by(graph: Graph, place: Sequence[int] | Ints) -> dict[int, int]:
    """Return the same for each place, where ``place[id]`` is that of node ``id``, -1 for none."""
    saved, place_of = SavedColumns.of(graph.saved), np.asarray(place, np.int64)
    nodes, sizes = np.array(saved.nodes, np.int64), np.array(saved.nbytes, np.int64)
    places = place_of[nodes]
    is_kept = np.array([state not in ("freed", "packed") for state in saved.states], np.bool_)
    counted = is_kept & (places >= 0)
    # memory that is known to be the same has one key
    keys = np.array([-1 if one is None else one for one in saved.storages], np.int64)
    unknown = counted & (keys < 0)
    keys[unknown] = -1 - np.flatnonzero(unknown)
    if unknown.any():  # then values that come from the same output are one
        targets, lines = _lines_into(graph, set(nodes[unknown].tolist()))
        counted &= ~(unknown & np.isin(nodes, targets))
        numbers = {line: number for number, line in enumerate(dict.fromkeys(lines))}
        places = np.append(places[counted], place_of[targets])
        keys = np.append(keys[counted], [max(keys) + 1 + numbers[line] for line in lines])
        sizes = np.append(sizes[counted], [line[2] for line in lines])
    else:
        places, keys, sizes = places[counted], keys[counted], sizes[counted]
    if not len(places):
        return {}
    order = np.lexsort((keys, places))
    places, keys = places[order], keys[order]
    firsts = np.flatnonzero((np.diff(places, prepend=-1) != 0) | (np.diff(keys, prepend=0) != 0))
    largest, places = np.maximum.reduceat(sizes[order], firsts), places[firsts]
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    totals_of: list[int] = np.add.reduceat(largest, starts).tolist()
    return dict(zip(places[starts].tolist(), totals_of, strict=True))


def _lines_into(graph: Graph, nodes: set[int]) -> tuple[Ints, list[tuple[int, int, int]]]:
    """Return the saved edges that end at ``nodes``: the node, and source, output and bytes."""
    ends = enumerate(zip(graph.edge_kinds, graph.edge_targets, strict=True))
    ids = [id for id, (kind, target) in ends if kind == "saved" and target in nodes]
    sources, nrs, nbytes = graph.edge_sources, graph.edge_output_nrs, graph.edge_nbytes
    lines = [(sources[id], nrs[id], nbytes.get(id, 0)) for id in ids]
    return np.array([graph.edge_targets[id] for id in ids], np.int64), lines


def saved_of_edges(graph: Graph, saved: SavedColumns) -> dict[int, int]:
    """For each saved edge whose value is known, the place of that among ``saved``, the values that
    nodes of ``graph`` keep."""
    return dict(_values_at(graph, saved))


def storages_of_edges(graph: Graph) -> dict[int, int]:
    """For each saved edge whose value knows it, the number of its storage."""
    saved = SavedColumns.of(graph.saved)
    storages = saved.storages
    return {
        id: storage for id, at in _values_at(graph, saved) if (storage := storages[at]) is not None
    }


def _values_at(graph: Graph, saved: SavedColumns) -> Iterator[tuple[int, int]]:
    """Yield the saved edges whose value is known, with its place among ``saved``.

    The edges of a node come in the order of its values, some of which have no edge.  Those of
    tensors with names have theirs for a label.
    """
    nodes, names, sizes, shapes = saved.nodes, saved.names, saved.nbytes, saved.shapes
    label_of, size_of = graph.edge_labels.get, graph.edge_nbytes.get
    next_value: dict[int, int] = {}
    last = len(nodes)
    for id, (kind, target) in enumerate(zip(graph.edge_kinds, graph.edge_targets, strict=True)):
        if kind != "saved":
            continue
        at = next_value[target] if target in next_value else saved.first(target)
        size = size_of(id, 0)
        while at < last and nodes[at] == target:
            at += 1
            if sizes[at - 1] == size and (
                names[at - 1] == label_of(id, "")
                or (size and shapes[at - 1] == graph.edge_shapes[id])
            ):
                next_value[target] = at
                yield id, at - 1
                break
