"""Lanes of rows, as in a git log: each row has a dot in a lane, each link runs along one.

The way to the output, inside modules as far as it goes and else that of the largest results, is
the spine, lane 0, nearest to the names.  What else there is, is cut into longest chains; these, and
links that skip rows, are intervals of rows: the shortest first, so that nested skips do not cross,
each takes the first lane that is free there; but one comes before or behind all others where that
saves crossings.  Where rows read ever more of the same values, these share a lane, the *collector*.
A skip that crosses many lanes ends in numbered ports.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from typing import Final, NamedTuple

MOST_LANES: Final = 8
"""Links that would need more lanes end in ports."""

MOST_READ: Final = 6
"""A row that reads more values from afar takes them from a collector."""
PORT_COST: Final = 4
"""A skip ends in ports where that saves so many crossings."""
MOST_TRIED: Final = 6
MOST_PORTS: Final = 9
"""So many skips end in ports because they cross lanes."""

Ends = tuple[int, int]
_Job = tuple[int, int, int, int]
"""Length, first and last row, and the number of a chain, or -1 - source of a skip, of a collector
the first of its sources."""


class Lanes(NamedTuple):
    """``of`` is the lane of each row's dot, 0 nearest to the names; ``links`` that along which each
    link runs, -1 for one that ends in ports; ``ports`` are the numbers of these, by the row that
    they come from; ``number`` is how many lanes there are, and ``collected`` are the links along
    the lane of a collector."""

    of: dict[int, int]
    links: dict[Ends, int]
    ports: dict[int, int]
    number: int
    collected: frozenset[Ends] = frozenset()


def lanes_of(
    dots: Sequence[int], links: Iterable[Ends],
    weights: Mapping[int, float] = MappingProxyType({}),
    near: Mapping[Ends, int] = MappingProxyType({}), *, untangles: bool = True,
) -> Lanes:  # fmt: skip
    """Assign lanes to the rows ``dots``, in their order, and to the links between them; the spine
    goes along links that are ``near``, and on the way of the largest ``weights``, each of them 1
    where it is not given.  With ``untangles``, what crosses many others takes another lane, or ends
    in ports.

    >>> lanes = lanes_of(range(4), [(0, 1), (1, 2), (2, 3), (0, 3)])
    >>> lanes.of, lanes.links[0, 3], lanes.number
    ({0: 0, 1: 0, 2: 0, 3: 0}, 1, 2)
    """
    ends = sorted(links)
    readers: dict[int, list[int]] = {}
    makers: dict[int, list[int]] = {}
    for source, target in ends:
        readers.setdefault(source, []).append(target)
        makers.setdefault(target, []).append(source)
    spine = _spine(dots, makers, weights, near)
    chains = [spine, *_chains({*dots}.difference(spine), readers)]
    chain_of = {row: number for number, chain in enumerate(chains) for row in chain}
    along: dict[Ends, int] = {
        pair: number for number, chain in enumerate(chains) for pair in pairwise(chain)
    }
    jobs: list[_Job] = []
    for number, chain in enumerate(chains):
        if number:
            first = min([chain[0], *makers.get(chain[0], ())])
            last = max([chain[-1], *readers.get(chain[-1], ())])
            jobs.append((last - first, first, last, number))
    skips: dict[int, list[int]] = {}
    collected = _collected(ends, along)
    for source, target in ends:
        if (source, target) in along:
            continue
        if (source, target) in collected:
            skips.setdefault(collected[source, target], []).append(target)
            continue
        number, other = chain_of[source], chain_of[target]
        # into or out of a chain that is not the spine, a link runs in the lane of the chain
        if other and target == chains[other][0]:
            along[source, target] = other
        elif number and source == chains[number][-1]:
            along[source, target] = number
        else:
            skips.setdefault(source, []).append(target)
    jobs += [(max(to) - source, source, max(to), -1 - source) for source, to in skips.items()]

    def assigned(order: Sequence[_Job], ported: frozenset[int]) -> tuple[tuple[int, int], Lanes]:
        lanes = _assigned(order, ported, dots, ends, chain_of, along, collected)
        crossed = sum(count for count, _ in _crossings(lanes, {}))
        return (crossed + PORT_COST * len(lanes.ports), lanes.number), lanes

    def untangled(ported: frozenset[int]) -> tuple[tuple[int, int], Lanes]:
        order = sorted(jobs)
        best = assigned(order, ported)
        for job in [*order] if untangles else ():
            others = [one for one in order if one != job]
            for tried in ([job, *others], [*others, job]):
                if best[0][0] and (other := assigned(tried, ported))[0] < best[0]:
                    best, order = other, tried
        return best

    ported: frozenset[int] = frozenset()
    cost, lanes = untangled(ported)
    while untangles and len(ported) < MOST_PORTS:
        worst = sorted(_crossings(lanes, along), reverse=True)[:MOST_TRIED]
        tries = [(ported | {source}, *untangled(ported | {source})) for _, source in worst]
        best = min(tries, key=lambda one: one[1], default=(ported, cost, lanes))
        if best[1] >= cost:
            break
        ported, cost, lanes = best
    return lanes


def _collected(ends: Sequence[Ends], along: Mapping[Ends, int]) -> dict[Ends, int]:
    """Return the links that run along a collector, with the first row that gives it something: the
    rows that it leads to read all that came before."""
    read: dict[int, set[int]] = {}
    for source, target in ends:
        read.setdefault(target, set()).add(source)
    collected: dict[Ends, int] = {}
    for last in sorted(read, reverse=True):
        given = {one for one in read[last] if (one, last) not in along}
        if len(given) <= MOST_READ or any((one, last) in collected for one in given):
            continue
        for target, sources in read.items():
            before = {one for one in given if one < target}
            if target <= last and len(before) > 1 and before <= sources:
                skips = [(one, target) for one in before if (one, target) not in along]
                collected.update(dict.fromkeys(skips, min(given)))
    return collected


def port_numbers(lanes: Lanes) -> dict[int, list[int]]:
    """Return the numbers of the ports of each row that has some."""
    numbers: dict[int, set[int]] = {}
    for (source, target), lane in lanes.links.items():
        if lane < 0:
            for row in (source, target):
                numbers.setdefault(row, set()).add(lanes.ports[source])
    return {row: sorted(known) for row, known in numbers.items()}


def _assigned(
    jobs: Iterable[_Job], ported: frozenset[int], dots: Sequence[int], ends: Sequence[Ends],
    chain_of: Mapping[int, int], along: Mapping[Ends, int], collected: Mapping[Ends, int],
) -> Lanes:  # fmt: skip
    """Give each chain, and each skip that does not end in ports, the first lane that is free."""
    taken: list[list[tuple[int, int]]] = [[(-1, 1 << 60)]]
    lane_of_chain = {0: 0}
    lane_of_skip: dict[int, int] = {}
    for _, first, last, what in jobs:
        if -1 - what in ported:
            lane_of_skip[-1 - what] = -1
            continue
        lane = next(
            (
                lane
                for lane, spans in enumerate(taken)
                if lane and all(last <= one or first >= other for one, other in spans)
            ),
            len(taken),
        )
        if lane >= MOST_LANES and what < 0:
            lane_of_skip[-1 - what] = -1
            continue
        if lane == len(taken):
            taken.append([])
        taken[lane].append((first, last))
        if what >= 0:
            lane_of_chain[what] = lane
        else:
            lane_of_skip[-1 - what] = lane
    of = {row: lane_of_chain[chain_of[row]] for row in dots}
    drawn: dict[Ends, int] = {}
    for pair in ends:
        source = collected.get(pair, pair[0])
        drawn[pair] = lane_of_chain[along[pair]] if pair in along else lane_of_skip[source]
    sources = sorted({source for (source, _), lane in drawn.items() if lane < 0})
    ports = {source: number for number, source in enumerate(sources, 1)}
    return Lanes(of, drawn, ports, len(taken), frozenset(collected))


def _crossings(lanes: Lanes, along: Mapping[Ends, int]) -> list[tuple[int, int]]:
    """Return how often the skips from each row cross a lane on the way to their own or back, and
    the row."""
    longest: dict[Ends, int] = {}
    for (source, target), lane in lanes.links.items():
        longest[lane, source] = max(target, longest.get((lane, source), target))
    inside: dict[int, set[int]] = {}
    for (lane, source), target in longest.items():
        inside.setdefault(lane, set()).update(range(source + 1, target))
    crossed: set[tuple[int, int, bool, int]] = set()
    for (source, target), lane in lanes.links.items():
        for row in (source, target) if (source, target) not in along else ():
            near, far = sorted((lanes.of[row], lane))
            for between in range(near + 1, far):
                if lane >= 0 and row in inside.get(between, ()):
                    crossed.add((source, row, row == target, between))
    counts = Counter(source for source, *_ in crossed)
    return [(count, source) for source, count in counts.items()]


def _spine(
    dots: Sequence[int], makers: Mapping[int, Sequence[int]], weights: Mapping[int, float],
    near: Mapping[Ends, int],
) -> list[int]:  # fmt: skip
    """Return the way that leads to the last row: from each row back to the nearest that it reads,
    of several to the one that the largest results lead to."""
    along: dict[int, float] = {}
    for row in sorted(dots):
        before = max((along[one] for one in makers.get(row, ())), default=0)
        along[row] = before + weights.get(row, 1)
    spine = [max(dots)]
    while read := makers.get(spine[-1]):
        at = spine[-1]
        spine.append(max(read, key=lambda one: (near.get((one, at), 0), along[one], -one)))
    return spine[::-1]


def _chains(left: set[int], readers: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Cut rows into longest chains."""
    chains: list[list[int]] = []
    while left:
        length: dict[int, int] = {}
        step: dict[int, int] = {}
        for row in sorted(left, reverse=True):
            options = [one for one in readers.get(row, ()) if one in left]
            if options:
                step[row] = max(options, key=lambda one: (length[one], -one))
            length[row] = 1 + (length[step[row]] if options else 0)
        chain = [max(length, key=lambda row: (length[row], -row))]
        while chain[-1] in step:
            chain.append(step[chain[-1]])
        chains.append(chain)
        left.difference_update(chain)
    return chains
