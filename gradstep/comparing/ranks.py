"""What the processes of one job do differently: one recording of each."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import isfinite
from statistics import median
from typing import Final, NamedTuple, TypeVar

from gradstep.comparing.align import align
from gradstep.comparing.runs import structure_differences
from gradstep.graph import infinities
from gradstep.graph.model import Graph
from gradstep.graph.statistics import format_number
from gradstep.recording.facts import CallFacts, LeafFacts
from gradstep.recording.run import Run, graph_of
from gradstep.records import CallKind
from gradstep.text import plural

_SLOW: Final = 1.5
"""Times the median of the other ranks that a rank is told to be slow at."""
_LEAST: Final = 0.5
"""Seconds of a run below which nobody minds that a rank is slow."""
_FAR: Final = 10.0
"""Times the losses of other ranks, and its own before, that the loss of a rank is told at."""
_BEFORE: Final = 10
_FEWEST: Final = 3
"""So many losses before have to be known."""
_MOST: Final = 8
Key = tuple[CallKind, int]
H = TypeVar("H", bound=Hashable)


class RankFinding(NamedTuple):
    """What some ranks do otherwise than the rest: the ranks, the title of the first call where that
    is so ("" of all calls), and what it is."""

    ranks: tuple[int, ...]
    call: str
    what: str

    def __str__(self) -> str:
        words = "rank" if len(self.ranks) == 1 else "ranks"
        named = ", ".join(map(str, self.ranks[:_MOST])) + (", ..." * (len(self.ranks) > _MOST))
        return f"{words} {named}: {f'{self.call}: ' if self.call else ''}{self.what}"


def compare_ranks(runs: Sequence[Run]) -> list[RankFinding]:
    """Return what the ranks of one job do differently, each kind of difference where it is first.

    >>> compare_ranks([])
    []
    """
    by_rank = {run.header.rank: run for run in runs}
    calls = {
        rank: {(call.kind, call.number): call for call in run.calls()}
        for rank, run in sorted(by_rank.items())
    }
    return [
        finding
        for finding in (
            _first_trouble(by_rank, calls),
            _first_structure(by_rank, calls),
            *_unfinished(calls),
            *_leaves(by_rank, calls),
            _first_loss(calls),
            _slowest(calls),
        )
        if finding is not None
    ]


Calls = Mapping[int, Mapping[Key, CallFacts]]


def _first_trouble(runs: Mapping[int, Run], calls: Calls) -> RankFinding | None:
    troubled = [
        (call.index, place, rank)
        for rank, facts in calls.items()
        for call in facts.values()
        if call.is_troubled
        for place in [_trouble(runs[rank], call)]
    ]
    if not troubled:
        return None
    # where sums over all ranks have spread it, the one that has it earliest in a call is meant
    index, (order, what), rank = min(troubled)
    call = next(call for call in calls[rank].values() if call.index == index)
    ranks = tuple(r for i, (o, _), r in troubled if (i, o) == (index, order))
    return RankFinding(ranks, call.title, what)


def _trouble(run: Run, call: CallFacts) -> tuple[int, str]:
    """Return how early something is not finite in a call, and what that is."""
    if call.index in run.full:
        graph = graph_of(run, call.index)
        order = sorted(
            graph.statistics,
            key=lambda id: (
                (0, id) if graph.halves[id] == "forward" else (1, graph.orders.get(id, -1))
            ),
        )
        not_finite = infinities.troubled(graph)
        for place, id in enumerate(order):
            if id in not_finite:
                return place, f"{graph.statistics[id].trouble} {_at(graph, id)}"
    if call.loss is not None and (call.loss != call.loss or abs(call.loss) == float("inf")):
        return 1 << 30, f"the loss is {call.loss}"
    leaves = [run.leaves[leaf.leaf].name for leaf in run.of_leaves(call.index) if leaf.is_troubled]
    return 1 << 31, f"{leaves[0]}.grad is not finite" if leaves else "something is not finite"


def _at(graph: Graph, id: int) -> str:
    half = "in the gradient at" if graph.halves[id] == "backward" else "in the result of"
    if graph.halves[id] == "forward" and graph.kinds[id] != "op":
        half = "in"
    source = graph.sources.get(id)
    return f"{half} {graph.address(id)}" + (f", {source.file}:{source.line}" if source else "")


def _odd(values: Mapping[int, H]) -> tuple[int, ...]:
    """Return the ranks whose value is not that of most."""
    counts = Counter(values.values())
    if len(counts) < 2:
        return ()
    usual = counts.most_common(1)[0][0]
    return tuple(rank for rank, value in values.items() if value != usual)


def _common(calls: Calls) -> Iterator[Key]:
    first = next(iter(calls.values()), {})
    return (key for key in first if all(key in call for call in calls.values()))


def _first_structure(runs: Mapping[int, Run], calls: Calls) -> RankFinding | None:
    for key in _common(calls):
        structures = {rank: call[key].structure for rank, call in calls.items()}
        odd = _odd({rank: structure for rank, structure in structures.items() if structure})
        if not odd:
            continue
        usual = next(rank for rank in structures if rank not in odd and structures[rank])
        graphs = [runs[rank].graph(structures[rank]) for rank in (usual, odd[0])]
        differences = structure_differences(align(*graphs))
        if differences:
            what, addresses, module, *_ = differences[0]
            place = f" in {module}" if module else ""
            more = f" ({plural(len(differences), 'difference')})"
            named = " → ".join(dict.fromkeys(filter(None, addresses)))
            text = f"its graph is not that of rank {usual}: {what} {named}{place}{more}"
            return RankFinding(odd, calls[odd[0]][key].title, text)
    return None


def _unfinished(calls: Calls) -> Iterator[RankFinding]:
    for rank, call in calls.items():
        last = [*call.values()][-1:]
        if last and not last[0].is_finished:
            yield RankFinding((rank,), last[0].title, last[0].error or "it never ended")
    counts = {rank: len(call) for rank, call in calls.items()}
    odd = _odd(counts)
    if counts and not any(counts.values()):
        yield RankFinding(tuple(counts), "", "made no call of backward() or autograd.grad()")
    elif odd:
        yield RankFinding(odd, "", f"made {plural(counts[odd[0]], 'call')}, not as many as others")


def _leaves(runs: Mapping[int, Run], calls: Calls) -> Iterator[RankFinding]:
    """Yield the first gradient that is not the same on all ranks, and the first parameter."""
    seen: set[str] = set()
    for key in _common(calls):
        facts: dict[str, dict[int, LeafFacts]] = {}
        for rank, call in calls.items():
            names = runs[rank].leaves
            for leaf in runs[rank].of_leaves(call[key].index):
                if not names[leaf.leaf].is_part:
                    facts.setdefault(names[leaf.leaf].name, {})[rank] = leaf
        title = next(iter(calls.values()))[key].title
        for name, known in facts.items():
            for what, values in (
                (f"{name} is not that of other ranks",
                 {rank: facts.parameter_rms for rank, facts in known.items()}),
                (f"{name}.grad is not that of other ranks after the call",
                 {rank: facts.after_checksum for rank, facts in known.items()}),
            ):  # fmt: skip
                kind = what.removeprefix(name)
                odd = _odd({rank: value for rank, value in values.items() if value is not None})
                if odd and kind not in seen:
                    seen.add(kind)
                    yield RankFinding(odd, title, what)
        if len(seen) == 2:
            return


def _first_loss(calls: Calls) -> RankFinding | None:
    """Return the first loss that is far from those of the other ranks, and from those that the same
    rank had in the calls before; batches differ, so that losses that are near tell nothing."""
    before: dict[int, deque[float]] = {rank: deque(maxlen=_BEFORE) for rank in calls}
    for key in _common(calls):
        losses = {
            rank: abs(call[key].loss or 0.0)
            for rank, call in calls.items()
            if call[key].loss is not None and isfinite(call[key].loss or 0.0)
        }
        for rank, loss in losses.items():
            others = [other for each, other in losses.items() if each != rank]
            own = before[rank]
            if others and len(own) >= _FEWEST and loss > _FAR * max(median(others), *own, 0.0):
                theirs = format_number(median(others))
                what = f"its loss is {format_number(loss)}, and {theirs} on other ranks"
                return RankFinding((rank,), calls[rank][key].title, what)
        for rank, loss in losses.items():
            before[rank].append(loss)
    return None


def _slowest(calls: Calls) -> RankFinding | None:
    """Return the rank that takes longest. Where one is slow between its calls, the others wait for
    it inside of theirs; so that comes first."""
    between = {rank: dict(_times_between(call.values())) for rank, call in calls.items()}
    inside = {
        rank: {key: call.seconds for key, call in facts.items() if call.seconds is not None}
        for rank, facts in calls.items()
    }
    for where, times in (
        ("between its calls (data, forward pass, optimizer) it takes", between),
        ("its calls take", inside),
    ):
        usual = {rank: median(time.values()) if time else 0.0 for rank, time in times.items()}
        rank = max(usual, key=lambda one: usual[one], default=0)
        others = [usual[one] for one in usual if one != rank]
        of_others = median(others) if others else 0.0
        lost = (usual[rank] - of_others) * len(times[rank]) if others else 0.0
        if lost < _LEAST or usual[rank] < _SLOW * of_others:
            continue
        key = max(times[rank], key=lambda name: times[rank][name])
        call = calls[rank][key]
        line = f", {call.line.file}:{call.line.line}" if call.line else ""
        ratio = f"{usual[rank] / of_others:.1f} times" if of_others else "much more than"
        what = f"{where} {ratio} the median of the others, most at {call.title}{line}"
        return RankFinding((rank,), "", what)
    return None


def _times_between(calls: Iterable[CallFacts]) -> Iterator[tuple[Key, float]]:
    """Yield how long it took from the call before to each call."""
    for one, other in pairwise(calls):
        yield ((other.kind, other.number), max(other.began - one.began - (one.seconds or 0.0), 0.0))
