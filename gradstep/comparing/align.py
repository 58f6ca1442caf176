"""Which nodes of two graphs stand for each other, and how the graphs differ.

Leaves and outputs go by their names. Ops are aligned as two texts are, in the order in which they
ran: Eugene W. Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1, 1986.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np

from gradstep.graph.columns import Ints
from gradstep.graph.model import Graph
from gradstep.graph.statistics import format_shape

_MOST: Final = 128
"""Edits that are looked for together; of more, the first ones are settled, perhaps not the fewest:
the time that they take grows with their square."""
Key = Callable[[Graph, int], Hashable]


class Change(NamedTuple):
    """A node that two graphs do not have alike; ``one`` and ``other`` are its ids there, -1 for
    none."""

    what: Literal["removed", "added", "changed"]
    one: int
    other: int
    details: tuple[str, ...] = ()


def align(one: Graph, other: Graph) -> Ints:
    """Return the partner in ``other`` of each node of ``one``, -1 for none.

    >>> from gradstep.graph.builder import GraphBuilder
    >>> build, longer = GraphBuilder(), GraphBuilder()
    >>> _ = [build.node("op", "forward", name) for name in ("mul", "sin")]
    >>> _ = [longer.node("op", "forward", name) for name in ("mul", "exp", "sin")]
    >>> align(build.graph(), longer.graph()).tolist()
    [0, 2]
    """
    partners: Ints = np.full(len(one), -1, np.int64)
    if _keys(one, range(len(one)), _key) == _keys(other, range(len(other)), _key):
        return np.arange(len(one))
    _align_named(one, other, partners)
    _align_ops(one, other, "forward", partners)
    _align_inputs(one, other, partners)
    taken = set(partners.tolist())
    for id, pair in one.pairs.items():  # a node of the backward half goes with that of the forward
        if partners[id] < 0 <= partners[pair]:
            partner = other.pairs.get(int(partners[pair]), -1)
            if partner >= 0 and partner not in taken:
                partners[id] = partner
                taken.add(partner)
    _align_ops(one, other, "backward", partners)
    return partners


def _key(graph: Graph, id: int) -> Hashable:
    if graph.kinds[id] == "op":
        return graph.halves[id], graph.stem(id), graph.scopes[id], id in graph.pairs
    return graph.halves[id], graph.variables.get(id) or graph.names[id]


def _op(graph: Graph, id: int) -> Hashable:
    return graph.stem(id)


def _keys(graph: Graph, ids: Sequence[int], key: Key) -> list[Hashable]:
    return [key(graph, id) for id in ids]


def _align_named(one: Graph, other: Graph, partners: Ints) -> None:
    there: dict[Hashable, list[int]] = {}
    for id in range(len(other) - 1, -1, -1):
        if other.kinds[id] != "op":
            there.setdefault(_key(other, id), []).append(id)
    for id in range(len(one)):
        ids = there.get(_key(one, id)) if one.kinds[id] != "op" else None
        if ids:
            partners[id] = ids.pop()


def _align_ops(one: Graph, other: Graph, half: str, partners: Ints) -> None:
    taken = set(partners.tolist())

    def ops(graph: Graph, is_free: Callable[[int], bool]) -> list[int]:
        kinds, halves = graph.kinds, graph.halves
        every = range(len(graph))
        return [id for id in every if kinds[id] == "op" and halves[id] == half and is_free(id)]

    gaps = [(ops(one, lambda id: partners[id] < 0), ops(other, lambda id: id not in taken))]
    for key in (_key, _op):  # of what is left, a module may have another name
        rest = []
        for mine, theirs in gaps:
            here = (0, 0)
            both = common(_keys(one, mine, key), _keys(other, theirs, key))
            for at, there in [*both, (len(mine), len(theirs))]:
                if here[0] < at and here[1] < there:
                    rest.append((mine[here[0] : at], theirs[here[1] : there]))
                if at < len(mine):
                    partners[mine[at]] = theirs[there]
                here = (at + 1, there + 1)
        gaps = rest
    for mine, theirs in gaps:
        if len(mine) == len(theirs):  # one op in the place of another
            for id, partner in zip(mine, theirs, strict=True):
                if one.scopes[id] == other.scopes[partner]:
                    partners[id] = partner


def _align_inputs(one: Graph, other: Graph, partners: Ints) -> None:
    """Pair inputs that go to the same op, whatever they are called."""
    taken = set(partners.tolist())
    inputs = {
        (target, nr): source
        for kind, source, target, nr in zip(
            other.edge_kinds, other.edge_sources, other.edge_targets, other.edge_input_nrs,
            strict=True,
        )
        if kind == "value" and other.kinds[source] != "op" and source not in taken
    }  # fmt: skip
    for edge, kind in enumerate(one.edge_kinds if inputs else ()):
        source, target = one.edge_sources[edge], one.edge_targets[edge]
        if kind == "value" and partners[source] < 0 and one.kinds[source] != "op":
            partner = inputs.pop((int(partners[target]), one.edge_input_nrs[edge]), -1)
            if partner not in taken:
                partners[source] = partner
                taken.add(partner)


def common(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the places of a common subsequence, of the longest one where no more than 128 edits
    lie together.

    >>> common("abcabba", "cbabac")
    [(2, 0), (3, 2), (4, 3), (6, 4)]
    """
    pairs: list[tuple[int, int]] = []
    x = y = 0
    while x < len(one) and y < len(other):
        path, (x, y) = _path(one, other, x, y)
        pairs += path
    return pairs


def _path(
    one: Sequence[Hashable], other: Sequence[Hashable], left: int, top: int
) -> tuple[list[tuple[int, int]], tuple[int, int]]:
    """Return the pairs on the way that comes farthest from a place, and where it ends."""
    farthest, trace = {1: left}, []
    shift = top - left  # a diagonal has the number x - y + shift
    for edits in range(_MOST + 1):
        trace.append(farthest.copy())
        for k in range(-edits, edits + 1, 2):
            x = _entered(farthest, k, edits)
            y = x - k + shift
            while x < len(one) and y < len(other) and one[x] == other[y]:
                x, y = x + 1, y + 1
            farthest[k] = x
            if x >= len(one) and y >= len(other):
                return _back(trace, x, k, shift), (x, y)
    inside = [
        (x, k)
        for k, x in farthest.items()
        if (k - _MOST) % 2 == 0 and x <= len(one) and x - k + shift <= len(other)
    ]
    x, k = max(inside, key=lambda point: 2 * point[0] - point[1])
    return _back(trace, x, k, shift), (x, x - k + shift)


def _entered(farthest: dict[int, int], k: int, edits: int) -> int:
    """Return where the farthest way of so many edits enters a diagonal."""
    if edits == 0:
        return farthest[1]
    if k == -edits or (k != edits and farthest[k - 1] < farthest[k + 1]):
        return farthest[k + 1]
    return farthest[k - 1] + 1


def _back(trace: list[dict[int, int]], x: int, k: int, shift: int) -> list[tuple[int, int]]:
    pairs = []
    for edits in range(len(trace) - 1, -1, -1):
        start = _entered(trace[edits], k, edits)
        pairs += [(index, index - k + shift) for index in range(x - 1, start - 1, -1)]
        if edits:
            came_down = start == trace[edits].get(k + 1) and (
                k == -edits or (k != edits and trace[edits][k - 1] < trace[edits][k + 1])
            )
            k += 1 if came_down else -1
            x = trace[edits][k]
    return pairs[::-1]


def changes(one: Graph, other: Graph, partners: Ints) -> Iterator[Change]:
    """Yield how two graphs differ, in the order in which the nodes ran: in the forward half, where
    they have one. What follows from another change, such as the shapes after it, is left out; so
    is, where one forward half is derived from its backward half, what no gradient reaches: it has
    nothing to say of that."""
    half = "forward" if "forward" in (*one.halves, *other.halves) else "backward"
    ordered: list[tuple[float, Change]] = []
    inputs, inputs_there = _inputs(one, half), _inputs(other, half)
    back = {partner: id for id, partner in enumerate(partners.tolist()) if partner >= 0}
    hides = one.derived_forward != other.derived_forward
    typed: set[int] = set()
    for id in range(len(one)):
        if one.halves[id] != half:
            continue
        partner = int(partners[id])
        if partner < 0:
            if hides and _is_constant(one, id):
                continue
            ordered.append((id, Change("removed", id, -1)))
            continue
        details = _details(one, id, other, partner)
        types = _types(one, id, other, partner)
        if types:
            typed.add(id)
        if types and not any(source in typed for _, source, _ in inputs.get(id, ())):
            details += types
        mine = sorted((nr, int(partners[source]), of) for nr, source, of in inputs.get(id, ()))
        theirs = sorted(inputs_there.get(partner, ()))
        is_wired = all(source >= 0 for _, source, _ in mine)
        if mine != theirs and is_wired and all(source in back for _, source, _ in theirs):
            names = [", ".join(other.address(node[1]) for node in ids) for ids in (mine, theirs)]
            details.append(f"inputs {names[0]} → {names[1]}")
        if details:
            ordered.append((id, Change("changed", id, partner, tuple(details))))
    last = -1
    for partner in range(len(other)):
        if other.halves[partner] == half:
            last = back.get(partner, last)
            if partner not in back and not (hides and _is_constant(other, partner)):
                ordered.append((last + 0.5, Change("added", -1, partner)))
    yield from (change for _, change in sorted(ordered, key=lambda pair: pair[0]))


def _is_constant(graph: Graph, id: int) -> bool:
    return id not in graph.pairs and graph.kinds[id] in ("op", "constant", "frozen")


def _inputs(graph: Graph, half: str) -> dict[int, list[tuple[int, int, int]]]:
    """Return of each node where each input comes from: its number, the source, and of which."""
    inputs: dict[int, list[tuple[int, int, int]]] = {}
    wanted = "value" if half == "forward" else "gradient"
    for edge, kind in enumerate(graph.edge_kinds):
        if kind == wanted:
            inputs.setdefault(graph.edge_targets[edge], []).append(
                (graph.edge_input_nrs[edge], graph.edge_sources[edge], graph.edge_output_nrs[edge])
            )
    return inputs


def _details(one: Graph, id: int, other: Graph, partner: int) -> list[str]:
    scopes = one.scopes[id], other.scopes[partner]
    pairs = [("module", *scopes)]
    pairs.append(("class", one.modules.get(scopes[0], ""), other.modules.get(scopes[1], "")))
    if one.kinds[id] == other.kinds[partner] == "op":
        pairs.append(("op", one.stem(id), other.stem(partner)))
        if one.details[id] and other.details[partner]:  # PyTorch's graphs tell of few arguments
            pairs.append(("arguments", one.details[id], other.details[partner]))
    else:
        pairs.append(("kind", one.kinds[id], other.kinds[partner]))
    return [f"{what} {mine or '-'} → {its or '-'}" for what, mine, its in pairs if mine != its]


def _types(one: Graph, id: int, other: Graph, partner: int) -> list[str]:
    types = []
    shapes = one.shapes[id], other.shapes[partner]
    if shapes[0] != shapes[1] and None not in shapes:
        types.append(f"shape {format_shape(shapes[0])} → {format_shape(shapes[1])}")
    dtypes = one.dtypes[id], other.dtypes[partner]
    if dtypes[0] != dtypes[1] and all(dtypes):
        types.append(f"dtype {' → '.join(dtypes)}")
    return types
