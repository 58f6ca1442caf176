"""Which nodes of two graphs stand for each other, and how the graphs differ.

Leaves and outputs go by their names, and ops that do the same with the same inputs stand for each
other in whatever order they ran. What is left is aligned as two texts are: Eugene W. Myers, "An
O(ND) difference algorithm and its variations", Algorithmica 1, 1986. Where one graph has compiled a
part, the ops between the same inputs and results in the other are that part.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np

from gradstep.comparing.wrappers import OPS, without_wrappers
from gradstep.graph.columns import Ints
from gradstep.graph.model import Graph
from gradstep.graph.statistics import format_shape

_MOST: Final = 128
"""Edits that are looked for together; of more, the first ones are settled, perhaps not the fewest:
the time that they take grows with their square."""
COMPILED: Final = "compiled_function"
"""The op as which ``torch.compile`` shows all that it has compiled."""
Key = Callable[[Graph, int], Hashable]
Inputs = dict[int, list[tuple[int, int, int]]]
"""Of each node where each input comes from: its number, the source, and which of its results."""


class Change(NamedTuple):
    """A node that two graphs do not have alike; ``one`` and ``other`` are its ids there, -1 for
    none."""

    what: Literal["removed", "added", "changed"]
    one: int
    other: int
    details: tuple[str, ...] = ()


class Renamed(NamedTuple):
    """A module that has another name in the other graph, and how many nodes of it stand for nodes
    of that; "" is the model itself."""

    one: str
    other: str
    nodes: int


class Compiled(NamedTuple):
    """A part of the forward half that one graph has compiled, as few ops that show nothing inside,
    with all nodes of it in either graph."""

    one: frozenset[int]
    other: frozenset[int]


class Alignment(NamedTuple):
    """Two graphs, in the names of the plain models, and which nodes stand for each other.

    Attributes:
        partners: of each node of ``one`` the node of ``other``, -1 for none.
        renamed: modules that have other names, each once.
        compiled: parts that one of the graphs has compiled.
    """

    one: Graph
    other: Graph
    partners: Ints
    renamed: tuple[Renamed, ...] = ()
    compiled: tuple[Compiled, ...] = ()


def align(one: Graph, other: Graph) -> Alignment:
    """Find the partner in ``other`` of each node of ``one``.

    >>> from gradstep.graph.builder import GraphBuilder
    >>> build, longer = GraphBuilder(), GraphBuilder()
    >>> _ = [build.node("op", "forward", name) for name in ("mul", "sin")]
    >>> _ = [longer.node("op", "forward", name) for name in ("mul", "exp", "sin")]
    >>> align(build.graph(), longer.graph()).partners.tolist()
    [0, 2]
    """
    one, other = without_wrappers(one), without_wrappers(other)
    if _keys(one, range(len(one)), _key) == _keys(other, range(len(other)), _key):
        return Alignment(one, other, np.arange(len(one)))
    partners: Ints = np.full(len(one), -1, np.int64)
    _align_named(one, other, partners)
    _align_same(one, other, partners)
    _align_ops(one, other, "forward", partners)
    _align_inputs(one, other, partners)
    _align_cuts(one, other, partners)
    compiled = tuple(_align_compiled(one, other, partners))
    taken = set(partners.tolist())
    inside = {id for part in compiled for id in part.one}
    for id, pair in one.pairs.items():  # a node of the backward half goes with that of the forward
        if partners[id] < 0 <= partners[pair] and id not in inside:
            partner = other.pairs.get(int(partners[pair]), -1)
            if partner >= 0 and partner not in taken:
                partners[id] = partner
                taken.add(partner)
    _align_ops(one, other, "backward", partners)
    return Alignment(one, other, partners, _renamed(one, other, partners, compiled), compiled)


def _stem(graph: Graph, id: int) -> str:
    """Return an op as its grad_fn is called, where it has one: a traced graph may call the same op
    otherwise than one that was not, as ``nll_loss_forward``."""
    pair = graph.pairs.get(id) if graph.halves[id] == "forward" else None
    return graph.stem(id if pair is None else pair)


def _key(graph: Graph, id: int) -> Hashable:
    if graph.kinds[id] == "op":
        return graph.halves[id], _stem(graph, id), graph.scopes[id], id in graph.pairs
    return graph.halves[id], graph.variables.get(id) or graph.names[id]


def _op(graph: Graph, id: int) -> Hashable:
    return _stem(graph, id)


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


def _align_same(one: Graph, other: Graph, partners: Ints) -> None:
    """Pair the ops of the forward half that do the same with the same inputs."""
    numbers: dict[Hashable, int] = {}
    waiting: dict[int, list[int]] = {}
    for graph in (other, one):
        same: dict[int, int] = {}  # of each node, the number of what it computes, and of what
        inputs = _inputs(graph, "forward")
        for id in range(len(graph)):
            if graph.halves[id] != "forward":
                continue
            given = sorted((nr, same.get(source, -1), of) for nr, source, of in inputs.get(id, ()))
            same[id] = numbers.setdefault((_key(graph, id), *given), len(numbers))
            if graph.kinds[id] != "op" or not given:
                continue
            if graph is other:
                waiting.setdefault(same[id], []).append(id)
            elif there := waiting.get(same[id]):
                partners[id] = there.pop(0)


def _align_cuts(one: Graph, other: Graph, partners: Ints) -> None:
    """Pair where a tensor leaves the graph: in one engine's traces that is an op, in another's a
    constant that was cut off by it."""
    taken = set(partners.tolist())

    def ends(
        graph: Graph, is_free: Callable[[int], bool]
    ) -> Iterator[tuple[int, tuple[bool, str]]]:
        for id, kind in enumerate(graph.kinds):
            is_op = kind == "op" and graph.halves[id] == "forward" and id not in graph.pairs
            if (is_op or id in graph.cuts) and is_free(id):
                yield id, (is_op, f"{graph.names[id]}()" if is_op else graph.cuts[id])

    there: dict[tuple[bool, str], list[int]] = {}
    for id, key in ends(other, lambda id: id not in taken):
        there.setdefault(key, []).append(id)
    for id, (is_op, how) in ends(one, lambda id: bool(partners[id] < 0)):
        if ids := there.get((not is_op, how)):
            partners[id] = ids.pop(0)


def _align_compiled(one: Graph, other: Graph, partners: Ints) -> Iterator[Compiled]:
    """Yield the parts that one graph has compiled, whose results go where those of the ops go that
    the other has in their place, and pair what makes these results."""
    sources = _inputs(one, "forward"), _inputs(other, "forward")
    there = {partner: id for id, partner in enumerate(partners.tolist()) if partner >= 0}
    is_paired = (lambda id: bool(partners[id] >= 0)), there.__contains__
    found = [_unpaired_results(*side) for side in zip((one, other), sources, is_paired)]
    results = found[0][0], {(there[reader], nr): id for (reader, nr), id in found[1][0].items()}
    which = found[0][1], {(there[reader], nr): of for (reader, nr), of in found[1][1].items()}
    # what compiled ops give goes together; the ops in their place may give each result apart
    near = int(any(map(_is_compiled(other), results[1].values())))
    far, seen = 1 - near, set[int]()
    for place, exit in results[near].items():
        if exit in seen or place not in results[far]:
            continue
        part = _unpaired_before({exit}, sources[near], is_paired[near])
        places = [each for each, source in results[near].items() if source in part]
        if not all(each in results[far] for each in places):
            continue
        makers = {results[far][each] for each in places}
        mine, its = part, _unpaired_before(makers, sources[far], is_paired[far])
        if near:
            mine, its = its, mine
        seen |= part
        stems = {*map(one.stem, mine), *map(other.stem, its)}
        tensors = {int(partners[id]) for id in _tensors(one, mine, sources[0])}
        if COMPILED not in stems or tensors != _tensors(other, its, sources[1]):
            continue
        for each in places:
            partners[results[0][each]] = results[1][each]
        for each in places:  # of all gradients of a compiled part, its node tells the first
            if which[near][each] == 0:
                id, partner = results[0][each], results[1][each]
                partners[id] = partner
                if id in one.pairs and partner in other.pairs:
                    partners[one.pairs[id]] = other.pairs[partner]
                break
        yield Compiled(_whole(one, mine), _whole(other, its))


def _unpaired_results(
    graph: Graph, sources: Inputs, is_paired: Callable[[int], bool]
) -> tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]]:
    """Return where results without a partner go, to which node that has one and as what: which
    ops these are the results of, and which of their results."""
    results, which = dict[tuple[int, int], int](), dict[tuple[int, int], int]()
    for target, given in sources.items():
        for nr, source, of in given if is_paired(target) else ():
            if graph.kinds[source] == "op" and not is_paired(source):
                results[target, nr], which[target, nr] = source, of
    return results, which


def _is_compiled(graph: Graph) -> Callable[[int], bool]:
    return lambda id: graph.stem(id) == COMPILED


def _unpaired_before(ids: set[int], sources: Inputs, is_paired: Callable[[int], bool]) -> set[int]:
    """Return these nodes and all before them, up to those that have a partner."""
    part, queue = set(ids), [*ids]
    while queue:
        for _, source, _ in sources.get(queue.pop(), ()):
            if source not in part and not is_paired(source):
                part.add(source)
                queue.append(source)
    return part


def _tensors(graph: Graph, part: set[int], sources: Inputs) -> set[int]:
    """Return what goes into a part, but for what it may have made and saved by itself."""
    given = {source for id in part for _, source, _ in sources.get(id, ())} - part
    return {id for id in given if graph.kinds[id] != "constant"}


def _whole(graph: Graph, part: set[int]) -> frozenset[int]:
    """Return a part of the forward half with the nodes that go with it in the backward half."""
    return frozenset(part | {graph.pairs[id] for id in part if id in graph.pairs})


def _renamed(
    one: Graph, other: Graph, partners: Ints, compiled: Iterable[Compiled]
) -> tuple[Renamed, ...]:
    """Return the modules whose ops are all those of one module of another name, the outermost."""
    counts: dict[tuple[str, str], int] = {}
    inside = {id for part in compiled for id in part.one}
    for id, partner in enumerate(partners.tolist()):
        if partner >= 0 and id not in inside and one.kinds[id] == other.kinds[partner] == "op":
            paths = one.scopes[id], other.scopes[partner]
            counts[paths] = counts.get(paths, 0) + 1
    renamed: dict[tuple[str, str], int] = {}
    for (mine, its), count in counts.items():
        words, words_there = mine.split("."), its.split(".")
        while words and words_there and words[-1] == words_there[-1]:
            del words[-1], words_there[-1]
        names = ".".join(words), ".".join(words_there)
        renamed[names] = renamed.get(names, 0) + count
    of_model = [paths for paths in counts if any(paths)]
    return tuple(
        Renamed(mine, its, count)
        for (mine, its), count in renamed.items()
        if mine != its and all(_below(path, mine) == _below(there, its) for path, there in of_model)
    )


def _below(path: str, module: str) -> str | None:
    """Return the rest of a path inside a module, None where it is not inside.

    >>> [_below(path, "encoder") for path in ("encoder.0.fc", "encoder", "encoders")]
    ['0.fc', '', None]
    """
    if not module or path == module:
        return path[len(module) :]
    return path.removeprefix(f"{module}.") if path.startswith(f"{module}.") else None


def _align_ops(one: Graph, other: Graph, half: str, partners: Ints) -> None:
    taken = set(partners.tolist())

    def ops(graph: Graph, is_free: Callable[[int], bool]) -> list[int]:
        kinds, halves = graph.kinds, graph.halves
        every = range(len(graph))
        return [id for id in every if kinds[id] == "op" and halves[id] == half and is_free(id)]

    gaps = [(ops(one, lambda id: partners[id] < 0), ops(other, lambda id: id not in taken))]
    # ops before what is compiled have the same inputs, so that what is left comes after it
    is_compiled = any(
        any(map(_is_compiled(graph), ids)) for graph, ids in zip((one, other), gaps[0], strict=True)
    )
    for key in (_key, _op):  # of what is left, a module may have another name
        rest = []
        for mine, theirs in gaps:
            here = (0, 0)
            keys = _keys(one, mine, key), _keys(other, theirs, key)
            both = _last_common(*keys) if is_compiled else common(*keys)
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


def _last_common(one: Sequence[Hashable], other: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Return the places of a common subsequence, of several as long that which comes last.

    >>> common("abab", "ab"), _last_common("abab", "ab")
    ([(0, 0), (1, 1)], [(2, 0), (3, 1)])
    """
    pairs = common(one[::-1], other[::-1])
    return [(len(one) - 1 - at, len(other) - 1 - there) for at, there in reversed(pairs)]


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


class _Sides(NamedTuple):
    """The half of two graphs that is compared: the pair; the nodes ``inside`` wrappers and compiled
    parts of either, which stand for others; where inputs come from; and ``back``, the partners of
    the other's nodes. ``hides`` says that one forward half is derived from its backward half."""

    pair: Alignment
    half: str
    inside: tuple[set[int], set[int]]
    inputs: tuple[Inputs, Inputs]
    back: dict[int, int]
    hides: bool


def changes(pair: Alignment) -> Iterator[Change]:
    """Yield how two graphs differ, in the order in which the nodes ran: in the forward half, where
    they have one. What follows from another change, such as the shapes after it, is left out; so
    is, where one forward half is derived from its backward half, what no gradient reaches: it has
    nothing to say of that."""
    one, other, partners, _, compiled = pair
    inside = _of_wrappers(one), _of_wrappers(other)
    for part in compiled:
        inside[0].update(part.one)
        inside[1].update(part.other)
    half = "forward" if "forward" in (*one.halves, *other.halves) else "backward"
    back = {partner: id for id, partner in enumerate(partners.tolist()) if partner >= 0}
    inputs, hides = (_inputs(one, half), _inputs(other, half)), one.derived_forward
    sides = _Sides(pair, half, inside, inputs, back, hides != other.derived_forward)
    ordered = sorted([*_of_one(sides), *_of_other(sides)], key=lambda placed: placed[0])
    yield from (change for _, change in ordered)


def _of_one(sides: _Sides) -> Iterator[tuple[float, Change]]:
    """Yield what became of the nodes of the first graph, each with its place."""
    one, other, partners, *_ = sides.pair
    typed: set[int] = set()
    for id in range(len(one)):
        if one.halves[id] != sides.half or id in sides.inside[0]:
            continue
        partner = int(partners[id])
        if partner < 0:
            if not (sides.hides and _is_constant(one, id)):
                yield id, Change("removed", id, -1)
            continue
        is_cut = {one.kinds[id], other.kinds[partner]} == {"op", "constant"}
        if not is_cut and (details := _changed(sides, id, partner, typed)):
            yield id, Change("changed", id, partner, tuple(details))


def _changed(sides: _Sides, id: int, partner: int, typed: set[int]) -> list[str]:
    """Say how a node differs from its partner; ``typed`` are those so far that have other types,
    from which those after them follow."""
    one, other, partners, renamed, _ = sides.pair
    details = _details(one, id, other, partner, renamed)
    given = sides.inputs[0].get(id, ())
    if types := _types(one, id, other, partner):
        typed.add(id)
        if not any(source in typed for _, source, _ in given):
            details += types
    mine = sorted((nr, int(partners[source]), of) for nr, source, of in given)
    theirs = sorted(sides.inputs[1].get(partner, ()))
    is_wired = all(source >= 0 for _, source, _ in mine) and all(
        source in sides.back and source not in sides.inside[1] for _, source, _ in theirs
    )
    if mine != theirs and is_wired:
        names = [", ".join(other.address(node[1]) for node in ids) for ids in (mine, theirs)]
        details.append(f"inputs {names[0]} → {names[1]}")
    return details


def _of_other(sides: _Sides) -> Iterator[tuple[float, Change]]:
    """Yield the nodes that only the other graph has, each behind the last partner before it."""
    other, last = sides.pair.other, -1
    for partner in range(len(other)):
        if other.halves[partner] != sides.half:
            continue
        last = sides.back.get(partner, last)
        is_alone = partner not in sides.back and partner not in sides.inside[1]
        if is_alone and not (sides.hides and _is_constant(other, partner)):
            yield last + 0.5, Change("added", -1, partner)


def _of_wrappers(graph: Graph) -> set[int]:
    return {id for id in range(len(graph)) if graph.kinds[id] == "op" and graph.stem(id) in OPS}


def _is_constant(graph: Graph, id: int) -> bool:
    return id not in graph.pairs and graph.kinds[id] in ("op", "constant", "frozen")


def _inputs(graph: Graph, half: str) -> Inputs:
    inputs: Inputs = {}
    wanted = "value" if half == "forward" else "gradient"
    for edge, kind in enumerate(graph.edge_kinds):
        if kind == wanted:
            inputs.setdefault(graph.edge_targets[edge], []).append(
                (graph.edge_input_nrs[edge], graph.edge_sources[edge], graph.edge_output_nrs[edge])
            )
    return inputs


def _details(
    one: Graph, id: int, other: Graph, partner: int, renamed: Iterable[Renamed]
) -> list[str]:
    scopes = one.scopes[id], other.scopes[partner]
    rests = [(_below(scopes[0], each.one), _below(scopes[1], each.other)) for each in renamed]
    is_renamed = any(mine == its is not None for mine, its in rests)
    pairs = [] if is_renamed else [("module", *scopes)]
    pairs.append(("class", one.modules.get(scopes[0], ""), other.modules.get(scopes[1], "")))
    if one.kinds[id] == other.kinds[partner] == "op":
        pairs.append(("op", _stem(one, id), _stem(other, partner)))
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
