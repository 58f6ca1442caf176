"""One graph of two, with what is different marked: what a picture of a comparison shows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from gradstep.comparing.align import COMPILED, Alignment, Change, changes
from gradstep.graph.builder import GraphBuilder
from gradstep.graph.columns import Ints
from gradstep.graph.model import Edge, Graph, Mark
from gradstep.graph.statistics import Statistics


def merged(pair: Alignment, places: Iterable[int] = ()) -> Graph:
    """Return a graph of all nodes and edges of two: those that both have are there once, as in the
    first, with what flowed in the other beside it; ``places`` are the nodes of the first at which
    values differ.

    >>> from gradstep.comparing.align import align
    >>> build, longer = GraphBuilder(), GraphBuilder()
    >>> _ = build.node("op", "forward", "sin")
    >>> _ = [longer.node("op", "forward", name) for name in ("exp", "sin")]
    >>> graph = merged(align(build.graph(), longer.graph()))
    >>> list(graph.names), dict(graph.marks)
    (['exp', 'sin'], {0: Mark(what='added', details='')})
    """
    one, other, partners, *_ = pair
    hidden = _hidden(pair)
    build = GraphBuilder(
        one.title, one.derived_forward, modules={**other.modules, **one.modules},
        module_details={**other.module_details, **one.module_details}, calls=[*one.calls],
    )  # fmt: skip
    ids, ids_there = [-1] * len(one), [-1] * len(other)
    for id, partner in _in_order(other, partners):
        if (id < 0 or id in hidden[0]) and (partner < 0 or partner in hidden[1]):
            continue
        if id >= 0 and id not in hidden[0]:
            new = _add(build, one, id)
        else:
            new = _add(build, other, partner, ordered=False)
            if id >= 0 and (stats := one.statistics.get(id)):
                build.statistics[new] = stats
        if id >= 0:
            ids[id] = new
        if partner >= 0:
            ids_there[partner] = new
    for graph, new_ids in ((one, ids), (other, ids_there)):
        for id, back in graph.pairs.items():
            halves = {new_ids[id], new_ids[back]}
            if -1 not in halves and not halves & build.pairs.keys():
                build.pair(new_ids[id], new_ids[back])
    nodes, edges = _numbers(one, other, partners.tolist())
    build.others = {ids[id]: stats for id, stats in nodes.items()}
    _add_edges(build, one, ids, other, ids_there, edges, hidden)
    build.marks = _marks(pair, places, ids, ids_there)
    return build.graph()


def _hidden(pair: Alignment) -> tuple[set[int], set[int]]:
    """Return the nodes of either graph that say less of a part than those of the other, as it is
    compiled there."""
    hidden: tuple[set[int], set[int]] = set(), set()
    for part in pair.compiled:
        is_first = any(pair.one.stem(id) == COMPILED for id in part.one)
        hidden[not is_first].update(part.one if is_first else part.other)
    return hidden


def marked(pair: Alignment, places: Iterable[int] = ()) -> tuple[Graph, Graph]:
    """Return both graphs with what is different marked in each, to be shown beside each other."""
    one, other, partners, *_ = pair
    back = [-1] * len(other)
    for id, partner in enumerate(partners.tolist()):
        if partner >= 0:
            back[partner] = id
    marks = _marks(pair, places, range(len(one)), [-1] * len(other))
    theirs = _marks(pair, places, [-1] * len(one), range(len(other)))
    mine, its = _numbers(one, other, partners.tolist()), _numbers(other, one, back)
    return (
        replace(one, marks=marks, others=mine[0], edge_others=mine[1]),
        replace(other, marks=theirs, others=its[0], edge_others=its[1]),
    )


def _numbers(
    graph: Graph, other: Graph, partners: Sequence[int]
) -> tuple[dict[int, Statistics], dict[int, Statistics]]:
    """Return what flowed in the other graph at each node and edge of the first, by their ids."""
    nodes = {
        id: stats
        for id, partner in enumerate(partners)
        if partner >= 0 and (stats := other.statistics.get(partner))
    }
    there = {_key(edge, edge.source, edge.target): edge.statistics for edge in other.edges()}
    edges = {
        id: stats
        for id, edge in enumerate(graph.edges())
        if (stats := there.get(_key(edge, partners[edge.source], partners[edge.target])))
    }
    return nodes, edges


def _key(edge: Edge, source: int, target: int) -> tuple[str, int, int, int, int, str]:
    return edge.kind, source, target, edge.output_nr, edge.input_nr, edge.label


def _in_order(other: Graph, partners: Ints) -> list[tuple[int, int]]:
    """Pair the ids of all nodes; one that is in ``other`` only comes after the op before it."""
    back = {partner: id for id, partner in enumerate(partners.tolist()) if partner >= 0}
    nodes = [(float(id), id, partner) for id, partner in enumerate(partners.tolist())]
    last = -1
    for partner in range(len(other)):
        if partner not in back:
            nodes.append((last + 0.5, -1, partner))
        elif other.kinds[partner] == "op":
            last = max(last, back[partner])
    return [(id, partner) for _, id, partner in sorted(nodes, key=lambda node: node[0])]


def _add(build: GraphBuilder, graph: Graph, id: int, *, ordered: bool = True) -> int:
    """Add a node; one that is not ``ordered`` has its order among the nodes of another graph."""
    new = build.copy(graph, id, **({} if ordered else {"order": None}))
    for name in ("rounds", "cuts", "results", "hooks", "call_of"):
        if id in (known := getattr(graph, name)) and (ordered or name != "call_of"):
            getattr(build, name)[new] = known[id]  # calls of the other graph have other numbers
    return new


def _add_edges(
    build: GraphBuilder,
    one: Graph,
    ids: list[int],
    other: Graph,
    ids_there: list[int],
    others: dict[int, Statistics],
    hidden: tuple[set[int], set[int]],
) -> None:
    numbers: dict[object, tuple[Statistics | None, Statistics | None]] = {}
    known = set[tuple[str, int, int, int, int, str]]()
    for new_ids, graph, unseen in ((ids, one, hidden[0]), (ids_there, other, hidden[1])):
        for id, edge in enumerate(graph.edges()):
            source, target = new_ids[edge.source], new_ids[edge.target]
            key = _key(edge, source, target)
            if graph is other and key in known:
                continue
            if edge.source in unseen or edge.target in unseen:
                numbers[key] = edge.statistics, others.get(id)
                continue
            known.add(key)
            mine, its = numbers.get(key, (edge.statistics, None))
            new = build.edge(
                edge.kind, source, target, output_nr=edge.output_nr, input_nr=edge.input_nr,
                shape=edge.shape, dtype=edge.dtype, label=edge.label, nbytes=edge.nbytes,
                statistics=mine, undefined=edge.undefined,
                multiplicity=edge.multiplicity,
            )  # fmt: skip
            if edge.hook is not None:
                build.edge_hooks[new] = edge.hook
            its = others.get(id) if graph is one else its
            if its is not None:
                build.edge_others[new] = its


def _marks(
    pair: Alignment, places: Iterable[int], ids: Sequence[int], ids_there: Sequence[int]
) -> dict[int, Mark]:
    """Return the marks of nodes by new ids, -1 for a node that is not drawn."""
    marks: dict[int, Mark] = {}
    first = next(iter(places), -1)
    differing = Change("changed", first, int(pair.partners[first]), ("values differ first here",))
    for change in (*([differing] if first >= 0 else []), *changes(pair), *_unpaired(pair)):
        mark = Mark(change.what, "; ".join(change.details))
        for id, new_ids in ((change.one, ids), (change.other, ids_there)):
            if id >= 0 and new_ids[id] >= 0:
                marks[new_ids[id]] = mark
    return marks


def _unpaired(pair: Alignment) -> Iterator[Change]:
    """Yield the nodes of the backward half that only one graph has."""
    one, other, partners, _, compiled = pair
    mine = {id for part in compiled for id in part.one}
    its = {*partners.tolist(), *(id for part in compiled for id in part.other)}
    for id, partner in enumerate(partners.tolist()):
        if partner < 0 and id not in mine and one.halves[id] == "backward":
            yield Change("removed", id, -1)
    for id in range(len(other)):
        if id not in its and other.halves[id] == "backward":
            yield Change("added", -1, id)
