"""Totals of a graph, for captions, and of the memory that the backward pass keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import prod

from autograd_core.dag.model import PARAMETER_KINDS, Graph, Half, SavedValue, Totals


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
    return sum(
        prod(graph.shapes[id] or ())
        for id, kind in enumerate(graph.kinds)
        if kind in PARAMETER_KINDS and graph.halves[id] == half
    )


def _leaf_gradients(graph: Graph) -> int:
    """Return the AccumulateGrads; 0 where none of them runs."""
    ids = [id for id, name in enumerate(graph.names) if name == "AccumulateGrad"]
    return len(ids) if any(id in graph.orders for id in ids) else 0


def saved_bytes(graph: Graph) -> int:
    """Return bytes kept for the backward pass; memory that several nodes keep counts once."""
    return saved_bytes_by(graph, [0] * len(graph)).get(0, 0)


def saved_bytes_by(graph: Graph, place: Sequence[int]) -> dict[int, int]:
    """Return the same for each place, where ``place[id]`` is that of node ``id``, -1 for none."""
    memory: dict[int, dict[Hashable, int]] = {}
    unknown = set()
    for id, values in graph.saved.items():
        if place[id] < 0:
            continue
        kept = memory.setdefault(place[id], {})
        for number, value in enumerate(values):
            if value.state in ("freed", "packed"):
                continue
            if value.storage is None:
                unknown.add(id)
            key = (id, number) if value.storage is None else value.storage
            kept[key] = max(value.nbytes, kept.get(key, 0))
    if unknown:
        _know_by_lines(graph, place, unknown, memory)
    return {number: sum(kept.values()) for number, kept in memory.items()}


def _know_by_lines(
    graph: Graph, place: Sequence[int], unknown: set[int], memory: dict[int, dict[Hashable, int]]
) -> None:
    """Take values that come from the same output for one, where storage is unknown."""
    reached = set()
    for id, kind in enumerate(graph.edge_kinds):
        target = graph.edge_targets[id]
        if kind == "saved" and target in unknown:
            if target not in reached:
                reached.add(target)
                for number in range(len(graph.saved[target])):
                    memory[place[target]].pop((target, number), None)
            nbytes = graph.edge_nbytes.get(id, 0)
            line = (graph.edge_sources[id], graph.edge_output_nrs[id], nbytes)
            memory[place[target]]["line", *line] = nbytes


def values_of_edges(graph: Graph) -> dict[int, SavedValue]:
    """Return the value at the end of each saved edge, where it is known."""
    found: dict[int, SavedValue] = {}
    next_value: dict[int, int] = {}
    for id, kind in enumerate(graph.edge_kinds):
        if kind != "saved":
            continue
        target = graph.edge_targets[id]
        # the edges of a node come in the order of its values, some of which have no edge
        values = graph.saved.get(target, ())
        for number in range(next_value.get(target, 0), len(values)):
            if _belongs(graph, id, values[number]):
                next_value[target] = number + 1
                found[id] = values[number]
                break
    return found


def _belongs(graph: Graph, edge: int, value: SavedValue) -> bool:
    """Return whether a saved edge may be that of ``value``; edges of tensors with names have
    theirs."""
    label, nbytes = graph.edge_labels.get(edge, ""), graph.edge_nbytes.get(edge, 0)
    if label == value.name and nbytes == value.nbytes:
        return True
    return bool(nbytes) and (value.shape, value.nbytes) == (graph.edge_shapes[edge], nbytes)


def storages_of_edges(graph: Graph) -> dict[int, int]:
    """For each saved edge whose value knows it, the number of its storage."""
    values = values_of_edges(graph).items()
    return {id: value.storage for id, value in values if value.storage is not None}
