"""Totals of a graph, for captions, and of the memory that the backward pass keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from typing import Final, get_args

import numpy as np

from gradstep.graph.columns import Ints, codes
from gradstep.graph.folding.columns import EDGE_KINDS, HALVES, NODE_KINDS, among
from gradstep.graph.model import LEAF_KINDS, PARAMETER_KINDS, Graph, Half, NodeKind, Owner, Totals
from gradstep.graph.saved_columns import SavedColumns
from gradstep.graph.statistics import Statistics
from gradstep.graph.statistics_columns import StatisticsColumns
from gradstep.graph.statistics_table import StatisticsTable

ZEROS: Final = Statistics._fields.index("zeros")
OWNERS: Final[tuple[Owner, ...]] = get_args(Owner)
_ANY: Final = np.iinfo(np.int64).max


def totals(graph: Graph) -> Totals:
    """Return the totals of ``graph``, of the whole one if it is a folded one."""
    if graph.unfolded is not None:
        return graph.unfolded
    counts = Counter[tuple[NodeKind, Half]]()
    numbers = codes(graph.kinds, NODE_KINDS) * len(HALVES) + codes(graph.halves, HALVES)
    for number, count in enumerate(np.bincount(numbers).tolist()):
        kind, half = divmod(number, len(HALVES))
        counts[NODE_KINDS[kind], HALVES[half]] = count
    for id, group in graph.groups.items():  # of a part of a folded graph
        counts["op", graph.halves[id]] += group.ops - (graph.kinds[id] == "op")
    leaf_gradients, saved = _leaf_gradients(graph), saved_bytes(graph)
    gradients, zeros, unknown, parts = _gradients(graph)
    return Totals(
        ops=counts["op", "forward"],
        leaves=counts["leaf", "forward"] + counts["parameter", "forward"],
        constants=counts["constant", "forward"] + counts["frozen", "forward"],
        grad_fns=counts["op", "backward"],
        leaf_gradients=len(leaf_gradients),
        saved_bytes=saved[""],
        parameter_bytes=saved["parameter"],
        buffer_bytes=saved["buffer"],
        parameters=_parameters(graph),
        gradients=gradients,
        zero_gradients=zeros,
        unknown_gradients=unknown,
        part_gradients=parts,
        zero_leaves=sum(
            stats.is_zero for id in leaf_gradients if (stats := graph.statistics.get(id))
        ),
    )


def _gradients(graph: Graph) -> tuple[int, int, int, int]:
    """Count the edges along which a gradient is known to flow, those with one of 0, those whose
    gradient is unknown, and those of which fewer elements are known than it has."""
    edges, table = _flowing(graph)
    unknown, sizes, zeros = len(table.unknown()), table.columns[0], table.columns[ZEROS]
    is_zero = (sizes > 0) & (zeros == sizes)
    shapes = [graph.edge_shapes[id] for id in edges]
    wholes = np.array([0 if shape is None else prod(shape) for shape in shapes], np.float64)
    is_part = (sizes > 0) & (sizes < wholes)
    parts = int(np.count_nonzero(is_part))
    return len(edges) - unknown, int(np.count_nonzero(is_zero)), unknown, parts


def _flowing(graph: Graph) -> tuple[list[int], StatisticsTable]:
    """Return the edges along which a gradient flows, and the statistics of each."""
    kinds = codes(graph.edge_kinds, EDGE_KINDS)
    edges: list[int] = np.flatnonzero(kinds == EDGE_KINDS.index("gradient")).tolist()
    if graph.edge_undefined:
        edges = [id for id in edges if id not in graph.edge_undefined]
    return edges, StatisticsColumns.of(graph.edge_statistics).table(edges)


def zero_gradients_by(graph: Graph, place: Sequence[int] | Ints) -> Counter[int]:
    """Return how many gradients of 0 arrive at the nodes of each place, where ``place[id]`` is that
    of node ``id``, -1 for none."""
    edges, table = _flowing(graph)
    sizes, zeros = table.columns[0], table.columns[ZEROS]
    found = np.flatnonzero((sizes > 0) & (zeros == sizes)).tolist()
    return Counter(int(place[graph.edge_targets[edges[at]]]) for at in found)


def _parameters(graph: Graph) -> int:
    """Return the elements of all parameters, of the forward half where there is one."""
    half: Half = "forward" if "forward" in graph.halves else "backward"
    ids = [id for id in _of_kinds(graph, PARAMETER_KINDS) if graph.halves[id] == half]
    return sum(prod(graph.shapes[id] or ()) for id in ids)


def _leaf_gradients(graph: Graph) -> list[int]:
    """Return the AccumulateGrads, if any of them runs."""
    ids = [id for id in _of_kinds(graph, LEAF_KINDS) if graph.names[id] == "AccumulateGrad"]
    return ids if any(id in graph.orders for id in ids) else []


def _of_kinds(graph: Graph, chosen: Sequence[NodeKind]) -> list[int]:
    ids: list[int] = np.flatnonzero(
        among(chosen, NODE_KINDS)[codes(graph.kinds, NODE_KINDS)]
    ).tolist()
    return ids


def saved_bytes(graph: Graph) -> dict[Owner, int]:
    """Return bytes kept for the backward pass, by what owns them; memory that several nodes keep
    counts once."""
    sizes = _bytes_by(graph, np.zeros(len(graph), np.int64))
    return {owner: sizes.get(code, 0) for code, owner in enumerate(OWNERS)}


def saved_bytes_by(graph: Graph, place: Sequence[int] | Ints) -> dict[int, int]:
    """Return those that neither a parameter nor a buffer owns for each place, where ``place[id]``
    is that of node ``id``, -1 for none."""
    sizes = _bytes_by(graph, np.asarray(place, np.int64))
    return {key // len(OWNERS): size for key, size in sizes.items() if not key % len(OWNERS)}


def _bytes_by(graph: Graph, place_of: Ints) -> dict[int, int]:
    """Return bytes by place and owner: the one times the number of owners, plus that of the other.

    Of memory that is a part of a larger one, as a slice is, only the parts that are kept count.
    """
    saved = SavedColumns.of(graph.saved)
    nodes, sizes = np.array(saved.nodes, np.int64), np.array(saved.nbytes, np.int64)
    # memory that is known to be the same has one key
    keys = np.array([-1 if one is None else one for one in saved.storages], np.int64)
    wholes, most, owners = _memories(saved)
    is_kept = np.array([state not in ("freed", "packed") for state in saved.states], np.bool_)
    counted = is_kept & (place_of[nodes] >= 0)
    places = place_of[nodes] * len(OWNERS) + owners
    unknown = counted & (keys < 0)
    keys[unknown] = -1 - np.flatnonzero(unknown)
    unknown &= wholes < 0
    lines: list[tuple[int, int, int]] = []
    if unknown.any():  # then values that come from the same output are one
        targets, lines = _lines_into(graph, set(nodes[unknown].tolist()))
        counted &= ~(unknown & np.isin(nodes, targets))
    columns = places, keys, sizes, wholes, most
    places, keys, sizes, wholes, most = (column[counted] for column in columns)
    if lines:
        numbers = {line: number for number, line in enumerate(dict.fromkeys(lines))}
        first = int(keys.max(initial=-1)) + 1
        places = np.append(places, place_of[targets] * len(OWNERS))
        keys = np.append(keys, [first + numbers[line] for line in lines])
        sizes = np.append(sizes, [line[2] for line in lines])
        wholes = np.append(wholes, [-1] * len(lines))
        most = np.append(most, [_ANY] * len(lines))
    if not len(places):
        return {}
    lone = wholes < 0
    wholes[lone] = keys[lone] + wholes.max() + 1 - min(0, int(keys.min()))
    order = np.lexsort((keys, wholes, places))
    places, wholes, keys = places[order], wholes[order], keys[order]
    new_whole = (np.diff(places, prepend=-1) != 0) | (np.diff(wholes, prepend=-1) != 0)
    firsts = np.flatnonzero(new_whole | (np.diff(keys, prepend=0) != 0))
    largest = np.maximum.reduceat(sizes[order], firsts)
    starts = np.flatnonzero(new_whole[firsts])
    parts = np.minimum(np.add.reduceat(largest, starts), most[order][firsts[starts]])
    places = places[firsts[starts]]
    starts = np.flatnonzero(np.diff(places, prepend=-1))
    totals_of: list[int] = np.add.reduceat(parts, starts).tolist()
    return dict(zip(places[starts].tolist(), totals_of, strict=True))


def _memories(saved: SavedColumns) -> tuple[Ints, Ints, Ints]:
    """Return of each saved value the number of its whole memory, counted from 0 on and -1 for none,
    the bytes of that, and the number of what owns it."""
    known = {one.number: one for one in saved.memories if one is not None}
    counted = {number: count for count, number in enumerate(known)}
    wholes = np.array(
        [-1 if one is None else counted[one.number] for one in saved.memories], np.int64
    )
    most = np.array([min(one.nbytes, _ANY) for one in known.values()] + [_ANY], np.int64)
    owners = np.array([OWNERS.index(one.owner) for one in known.values()] + [0], np.int64)
    return wholes, most[wholes], owners[wholes]  # the last ones are those of none


def _lines_into(graph: Graph, nodes: set[int]) -> tuple[Ints, list[tuple[int, int, int]]]:
    """Return the saved edges that end at ``nodes``: the node, and source, output and bytes."""
    ends = enumerate(zip(graph.edge_kinds, graph.edge_targets, strict=True))
    ids = [id for id, (kind, target) in ends if kind == "saved" and target in nodes]
    sources, nrs, nbytes = graph.edge_sources, graph.edge_output_nrs, graph.edge_nbytes
    lines = [(sources[id], nrs[id], nbytes.get(id, 0)) for id in ids]
    return np.array([graph.edge_targets[id] for id in ids], np.int64), lines


def saved_of_edges(graph: Graph, saved: SavedColumns) -> dict[int, int]:
    """For each saved edge whose value is known, the place of that among ``saved``, the values that
    nodes of ``graph`` keep.

    The edges of a node come in the order of its values, some of which have no edge.  Those of
    tensors with names have theirs for a label.
    """
    ids = np.flatnonzero(codes(graph.edge_kinds, EDGE_KINDS) == EDGE_KINDS.index("saved"))
    targets = np.array(graph.edge_targets, np.int64)[ids]
    # nearly always each value of a node has its edge: the one at the same place
    first_of = np.full(len(graph), len(saved.nodes), np.int64)
    keepers, places = np.unique(np.array(saved.nodes, np.int64), return_index=True)
    first_of[keepers] = places
    order = np.argsort(targets, kind="stable")
    starts = np.flatnonzero(np.diff(targets[order], prepend=-1))
    rank = np.empty(len(ids), np.int64)
    rank[order] = np.arange(len(ids)) - np.repeat(starts, np.diff(starts, append=len(ids)))
    saved_ids = dict(zip(ids.tolist(), (first_of[targets] + rank).tolist(), strict=True))
    fits = _fit_of(graph, saved)
    odd = {graph.edge_targets[id] for id, at in saved_ids.items() if not fits(id, at)}
    if odd:
        edges = zip(ids.tolist(), targets.tolist(), strict=True)
        others = [(id, target) for id, target in edges if target in odd]
        for id, _ in others:
            del saved_ids[id]
        saved_ids.update(_in_turn(others, saved, fits))
    return saved_ids


Fits = Callable[[int, int], bool]


def _fit_of(graph: Graph, saved: SavedColumns) -> Fits:
    """Return what tells whether a saved edge can be that of the value at a place."""
    nodes, names, sizes, shapes = saved.nodes, saved.names, saved.nbytes, saved.shapes
    label_of, size_of = graph.edge_labels.get, graph.edge_nbytes.get
    targets, edge_shapes, last = graph.edge_targets, graph.edge_shapes, len(saved.nodes)

    def fits(id: int, at: int) -> bool:
        if at >= last or nodes[at] != targets[id]:
            return False
        size = sizes[at]
        return size == size_of(id, 0) and (
            bool(size and shapes[at] == edge_shapes[id]) or names[at] == label_of(id, "")
        )

    return fits


def _in_turn(
    edges: Iterable[tuple[int, int]], saved: SavedColumns, fits: Fits
) -> Iterator[tuple[int, int]]:
    """Yield the edges, which come with their targets, that fit a value, each behind that of the
    edge before it."""
    nodes, last = saved.nodes, len(saved.nodes)
    next_value: dict[int, int] = {}
    for id, target in edges:
        at = next_value[target] if target in next_value else saved.first(target)
        while at < last and nodes[at] == target:
            at += 1
            if fits(id, at - 1):
                next_value[target] = at
                yield id, at - 1
                break
