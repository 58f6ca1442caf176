"""What makes a picture true: it says no more than the graph, and leaves out nothing that it should
say.  Functions that raise where that does not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from gradstep.graph.folding.totals import saved_of_edges, totals
from gradstep.graph.model import LEAF_KINDS, Graph
from gradstep.graph.saved_columns import SavedColumns
from gradstep_viz.picture.leaves import host_leaves
from gradstep_viz.picture.model import Picture


def check_leaves(graph: Graph) -> None:
    """The leaves of the forward half are those that the backward half has gradients for."""
    forward = _leaves(graph, "forward")
    backward = _leaves(graph, "backward")
    if set(graph.halves) != {"forward", "backward"}:
        return
    assert sorted(graph.pairs.get(id, -1) for id in forward) == backward, "unequal leaves"
    total = totals(graph)
    assert total.leaves == total.leaf_gradients or not graph.orders


def check_saved(graph: Graph) -> None:
    """Each value that a node keeps has its line: the lines add up to the bytes of the caption.

    Not looked at: what is kept of a value that a view of it has changed, since what made it is
    known by its later history alone.
    """
    if set(graph.halves) != {"forward", "backward"}:
        return
    saved = SavedColumns.of(graph.saved)
    drawn = set(saved_of_edges(graph, saved).values())
    for at, (node, state) in enumerate(zip(saved.nodes, saved.states, strict=True)):
        paired = graph.pairs.get(node) is not None
        told = f"{graph.address(node)} keeps {saved.names[at]}"
        unknown = "CopySlices" in graph.names
        assert at in drawn or state != "kept" or not paired or unknown, f"no line: {told}"


def _leaves(graph: Graph, half: str) -> list[int]:
    return [
        id
        for id, kind in enumerate(graph.kinds)
        if kind in ("leaf", "parameter") and graph.halves[id] == half
    ]


def check_lines(
    graph: Graph, picture: Picture, leaves: bool | None = None, *, shows_saved: bool = True
) -> None:
    """Every line is an edge between what its boxes stand for, and every edge between two boxes is
    a line; of the saved values that run between the same boxes there is one line."""
    hosts = host_leaves(graph, picture.view, leaves)
    kinds, sources, targets = graph.edge_kinds, graph.edge_sources, graph.edge_targets
    boxes = picture.boxes.column("node")
    for edge, kind, start, end in picture.lines.rows("edge", "kind", "source", "target"):
        assert kind == kinds[edge]
        assert boxes[end] == targets[edge]
        source = sources[edge]
        assert boxes[start] == source or boxes[start] in hosts.get(source, ()), "from elsewhere"
    drawn = Counter(picture.lines.column("edge"))
    expected = list(_edges_between_boxes(graph, picture, hosts))
    flowing = Counter({edge: count for edge, count in drawn.items() if kinds[edge] != "saved"})
    assert flowing == Counter(e for e in expected if kinds[e] != "saved"), "an edge lost, or twice"
    saved = [edge for edge in expected if kinds[edge] == "saved" and shows_saved]
    assert drawn.keys() <= set(expected)
    assert {targets[e] for e in drawn if kinds[e] == "saved"} == {targets[e] for e in saved}
    for edge in saved:
        assert any(
            boxes[end] == targets[edge]
            and boxes[start] in (sources[edge], *hosts.get(sources[edge], ()))
            for kind, start, end in picture.lines.rows("kind", "source", "target")
            if kind == "saved"
        ), "a saved value without a line"


def _edges_between_boxes(
    graph: Graph, picture: Picture, hosts: dict[int, tuple[int, ...]]
) -> Iterator[int]:
    shown = set(picture.boxes.column("node"))
    for edge, (kind, source, target) in enumerate(_edges(graph)):
        from_inside = kind == "saved" and source in hosts
        if kind == "saved" and picture.view != "both":
            continue
        if target in shown and (source in shown or from_inside):
            yield edge


def _edges(graph: Graph) -> Iterator[tuple[str, int, int]]:
    """Kind and ends of all edges; their other fields would take longer than the checks."""
    return zip(graph.edge_kinds, graph.edge_sources, graph.edge_targets, strict=True)


def check_folded(graph: Graph, small: Graph) -> None:
    """Every edge of a folded graph stands for as many edges of the graph as it says, and together
    they are all edges between what its nodes stand for."""
    place = _places(graph, small)
    between = Counter(
        (kind, place[source], place[target])
        for kind, source, target in _edges(graph)
        if source in place and target in place
        if place[source] != place[target]
    )
    merged: Counter[tuple[str, int, int]] = Counter()
    for edge, ends in enumerate(_edges(small)):
        merged[ends] += small.edge_counts.get(edge, 1)
    assert merged == between


def _places(graph: Graph, small: Graph) -> dict[int, int]:
    """The node of ``small`` that each node of ``graph`` went into."""
    place = {id: new for new, group in small.groups.items() for id in group.members}
    known: dict[tuple[str, str, str], list[int]] = {}
    for id in range(len(graph)):
        known.setdefault(_name(graph, id), []).append(id)
    for new in range(len(small)):
        if new not in small.groups:
            (id,) = known[_name(small, new)]
            place[id] = new
    return place


def _name(graph: Graph, id: int) -> tuple[str, str, str]:
    kind = "leaf" if graph.kinds[id] in LEAF_KINDS else graph.kinds[id]
    return kind, graph.halves[id], graph.address(id)


def check_mirror(graph: Graph) -> None:
    """What a gradient flows back along is a value that flowed there: each node of the backward
    half has its op in the forward half, and each of its edges one that runs against it."""
    flowed = {(source, target) for kind, source, target in _edges(graph) if kind == "value"}
    for kind, source, target in _edges(graph):
        if kind == "gradient" and graph.kinds[source] != "seed":
            ends = graph.pairs[target], graph.pairs[source]
            assert ends in flowed, graph.address(source)
