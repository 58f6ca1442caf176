"""The caption under the title: one muted line per half, in place of a legend."""

from __future__ import annotations

from autograd_core.dag.model import Graph
from autograd_core.dag.statistics import format_bytes
from viz import wording


def captions(graph: Graph, view: str) -> tuple[str, ...]:
    """One caption for each half that is shown and not empty, the forward one first."""
    found = []
    if view != "backward" and "forward" in graph.halves:
        found.append(_forward_caption(graph))
    if view != "forward" and "backward" in graph.halves:
        found.append(_backward_caption(graph, view))
    return tuple(found)


def _forward_caption(graph: Graph) -> str:
    kinds = [k for k, half in zip(graph.kinds, graph.halves, strict=True) if half == "forward"]
    leaves = kinds.count("leaf") + kinds.count("parameter")
    counts = [wording.plural(kinds.count("op"), "op"), wording.plural(leaves, "leaf", "leaves")]
    if constants := kinds.count("constant"):
        counts.append(wording.plural(constants, "constant"))
    derived = " · derived from the backward graph" if graph.derived_forward else ""
    return f"forward ↓ · {', '.join(counts)}{derived}"


def _backward_caption(graph: Graph, view: str) -> str:
    nodes = sum(
        kind == "op" and half == "backward"
        for kind, half in zip(graph.kinds, graph.halves, strict=True)
    )
    leaves = sum(name == "AccumulateGrad" for name in graph.names)
    text = f"backward ↑ · {wording.plural(nodes, 'node')}"
    if leaves and any(graph.names[id] == "AccumulateGrad" for id in graph.orders):
        text += f", {wording.plural(leaves, 'leaf gradient')}"
    if graph.orders:
        text += " · run in the order #1 #2 …" if nodes > 1 else " · #1 runs first"
    if saved := _saved_bytes(graph):
        text += f" · {'⋯ ' if view == 'both' else ''}saved, {format_bytes(saved)}"
    return text


def _saved_bytes(graph: Graph) -> int:
    """Bytes kept for the backward pass; a value that several nodes keep counts once."""
    lines: dict[tuple[int, int, int], int] = {}
    for id in range(graph.edge_count):
        if graph.edge_kinds[id] == "saved":
            nbytes = graph.edge_nbytes.get(id, 0)
            lines[graph.edge_sources[id], graph.edge_output_nrs[id], nbytes] = nbytes
    if lines:
        return sum(lines.values())
    kept = (value for values in graph.saved.values() for value in values)
    return sum(value.nbytes for value in kept if value.state != "freed")
