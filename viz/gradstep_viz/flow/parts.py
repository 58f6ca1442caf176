"""What may be a row: statements of the program, modules that hold them, and rounds of what is
alike.

A part covers ops that ran one after the other.  Shape ops belong to the op that they serve, so
that ``x.view(…)`` is nobody's row.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby, islice, takewhile
from typing import Final, Literal

from gradstep.graph.folding.chains import Heads, find_heads
from gradstep.graph.folding.columns import columns_of
from gradstep.graph.folding.fold import BOTH
from gradstep.graph.folding.paths import Paths, Segment
from gradstep.graph.folding.periods import periodic_stretches
from gradstep.graph.folding.units import Units, make_units
from gradstep.graph.model import Graph, Shape

CONTAINERS: Final = ("Sequential", "ModuleList", "ModuleDict")
"""Modules that say nothing by themselves: what is open of them has no header."""
LEAST_MODULES: Final = 3
LEAST_STATEMENTS: Final = 4
"""Fewer of them, in a row and alike, are shown one by one."""
LONGEST_PERIOD: Final = 24
MOST_UNLIKE: Final = 0.4
"""Such a share of the rounds of a loop may be unlike the commonest."""
HEALTHY: Final = 0
DEAD: Final = 1
BROKEN: Final = 2
MOST_SIBLINGS: Final = 40
"""More statements side by side are put into bands."""

MOST_CALLED: Final = 8
"""Lines that ran in the middle of another are looked for among so many."""

PartKind = Literal["statement", "module", "round", "fold", "band"]
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Part:
    """A statement, a module with ``children``, a round of a loop, or a *fold*, whose children are
    rounds that are alike; a *band* is what is left of many statements.

    ``label`` is the path of a module and the name of a round, ``units`` are those of its ops in
    the order in which they ran, and parts with the same ``signature`` are built alike.
    """

    kind: PartKind
    label: str
    units: tuple[int, ...]
    children: tuple[Part, ...]
    signature: int
    rows: int = 1
    """So many rows has all of it when all of it is open."""
    state: int = 0
    """How sick the gradients of its statements are at worst, and whether they differ in that."""
    is_mixed: bool = False
    module: str = ""
    """The class of a module; for a container that with the classes inside it."""
    inside: frozenset[str] = frozenset()
    """The classes of all modules inside, but for containers."""

    @property
    def is_container(self) -> bool:
        """Whether it says nothing by itself, so that what is open of it has no header."""
        return self.module.startswith(CONTAINERS)

    @property
    def opens(self) -> bool:
        """Whether there is more to see inside."""
        return self.rows > 1


class Ops:
    """The ops of a graph, their order, and who serves whom."""

    def __init__(self, graph: Graph) -> None:
        columns = columns_of(graph, BOTH)
        self.graph = graph
        self.columns = columns
        self.units: Units | None = make_units(graph, columns)

    @cached_property
    def heads(self) -> Heads:
        """What finds the op that a shape op serves."""
        assert self.units is not None
        return find_heads(self.graph, self.units)

    def heads_among(self, units: Sequence[int]) -> list[int]:
        """Return those of the ops of a part that are not there to serve another."""
        mains = self.heads.mains
        return [unit for unit in units if mains[unit] == unit]

    def is_softmax(self, units: Sequence[int]) -> bool:
        """Tell whether ops at several lines are a softmax that is written out: ``e = exp(x - m)``,
        and ``e`` divided by a sum of it."""
        assert self.units is not None
        heads, stems, inputs = self.heads_among(units), self.units.stems, self.units.inputs
        if len(heads) < LEAST_STATEMENTS:
            return False
        first, last = heads[stems[heads[0]] == "sub"], heads[-1]
        if (stems[first], stems[last]) != ("exp", "div") or first not in inputs[last]:
            return False
        inside = set(units)
        later = [unit for unit in units if unit > first]
        lines = {self.graph.sources.get(self.units.node(head)) for head in heads}
        return len(lines) > 1 and inside.issuperset(one for unit in later for one in inputs[unit])

    def shape(self, unit: int) -> Shape | None:
        """The shape of the result of an op."""
        assert self.units is not None
        forward, backward = self.units.forward[unit], self.units.backward[unit]
        return self.graph.shapes[forward if forward >= 0 else backward]


class PartBuilder:
    """Builds the tree of parts; with ``by_shape``, what gives results of another shape, but for the
    first size, is not alike, and without ``folds`` nothing is put into one fold."""

    def __init__(self, ops: Ops, sick: Sequence[int], *, by_shape: bool, folds: bool) -> None:
        assert ops.units is not None
        self._ops, self._graph, self._units = ops, ops.graph, ops.units
        self._sick, self._by_shape, self._folds = sick, by_shape, folds
        self._numbers: dict[object, int] = {}
        self._data = ops.units.without_gradient()

    def build(self) -> Part:
        """Return the root."""
        paths = Paths(self._graph, self._units)
        opened: list[tuple[Segment | None, list[Part | int]]] = [(None, [])]
        path: tuple[Segment, ...] = ()
        for unit, main in enumerate(self._ops.heads.mains):
            if main != unit:
                continue
            wanted = paths.of(unit)
            if wanted != path:
                shared = _shared(path, wanted)
                while len(opened) > shared + 1:
                    self._close(opened)
                opened += [(segment, []) for segment in wanted[shared:]]
                path = wanted
            opened[-1][1].append(unit)
        while len(opened) > 1:
            self._close(opened)
        children = self._arranged(opened[0][1])
        return self._part("module", "", _units(children), children)

    def _close(self, opened: list[tuple[Segment | None, list[Part | int]]]) -> None:
        segment, ran = opened.pop()
        assert segment is not None
        outside = opened[-1][1]
        if segment.kind == "loop":
            outside += self._loop([one for one in ran if isinstance(one, Part)])
            return
        one_line = segment.kind == "scope" and self._is_one_line(ran)
        children = [self._statement(ran)] if one_line else self._arranged(ran)
        units = _units(children)
        if segment.kind == "iteration":
            outside.append(self._part("round", segment.label, units, children))
        elif self._graph.modules.get(segment.label) in CONTAINERS[1:] or (
            len(children) == 1 and children[0].kind == "module" and not children[0].is_container
        ):
            outside += children  # a list does not run; a module of one module is that one
        else:
            if len(children) == 1 and children[0].is_container:
                children = list(children[0].children)
            inside = () if len(children) == 1 and not children[0].opens else tuple(children)
            outside.append(self._part("module", segment.label, units, inside))

    def _is_one_line(self, ran: Sequence[Part | int]) -> bool:
        """Return whether all of a module ran at one line: it is a library's, called there."""
        if any(isinstance(one, Part) for one in ran):
            return False
        sources, node, members = self._graph.sources, self._units.node, self._ops.heads.members
        lines = {sources.get(node(unit)) for one in ran for unit in members(one)}  # type: ignore[arg-type]
        return len(lines - {None}) == 1

    def _loop(self, rounds: list[Part]) -> list[Part]:
        """Return the rounds of a loop; those that are a module each are modules."""
        inside = [one.children[0] for one in rounds if len(one.children) == 1]
        labels = {one.label for one in inside if one.kind == "module"}
        if len(labels) == len(rounds):
            return inside
        if not self._folds or len(rounds) < LEAST_MODULES:
            return [part for one in rounds for part in one.children]
        count = Counter(one.signature for one in rounds).most_common(1)[0][1]
        states = {one.state for one in rounds}
        if len(states) == 1 and count >= (1 - MOST_UNLIKE) * len(rounds):
            return [self._fold(rounds)]
        runs = [list(run) for _, run in groupby(rounds, lambda one: one.signature)]
        return [
            self._fold(run) if len(run) >= LEAST_MODULES else part
            for run in runs
            for part in (run if len(run) < LEAST_MODULES else run[:1])
        ]

    def _arranged(self, ran: Sequence[Part | int]) -> list[Part]:
        """Return what is inside a part: statements, and what is alike in folds."""
        parts = self._statements(ran)
        if self._folds:
            parts = self._with_folds(parts)
            while len(parts) > MOST_SIBLINGS and (banded := self._in_bands(parts)) != parts:
                parts = banded
        return parts

    def _statements(self, ran: Sequence[Part | int]) -> list[Part]:
        """Join ops that ran one after the other in one statement, then statements without a
        gradient."""
        parts: list[Part] = []
        results, node = self._graph.results, self._units.node
        for line, run, is_whole in self._runs(ran):
            if line is None:
                parts += run  # type: ignore[arg-type]
                continue
            heads: list[Part | int] = []
            for head in run:
                heads.append(head)
                if not is_whole and node(head) in results:  # type: ignore[arg-type]
                    parts.append(self._statement(heads))
                    heads = []
            if heads:
                parts.append(self._statement(heads))
        parts = self._with_softmax(parts)
        if not self._data:
            return parts
        joined: list[Part] = []
        for is_data, of_them in groupby(parts, self._is_data):
            one, *others = of_them
            if is_data and others:
                joined.append(self._part("statement", "", _units([one, *others]), ()))
            else:
                joined += [one, *others]
        return joined

    def _with_softmax(self, parts: Sequence[Part]) -> list[Part]:
        """Join the statements of a softmax that a library has written out."""
        joined: list[Part] = []
        for part in parts:
            joined.append(part)
            heads = self._ops.heads_among(part.units)
            if part.kind != "statement" or self._units.stems[heads[-1]] != "div":
                continue
            of_it = takewhile(self._has_no_name, reversed(joined))
            units, start = tuple[int, ...](), len(joined)
            for number, one in enumerate(islice(of_it, MOST_CALLED), 1):
                units = one.units + units
                if number > 1 and self._ops.is_softmax(units):
                    start = len(joined) - number
            if start < len(joined):
                joined[start:] = [self._part("statement", "", _units(joined[start:]), ())]
        return joined

    def _has_no_name(self, part: Part) -> bool:
        nodes = map(self._units.node, part.units)
        return part.kind == "statement" and not any(one in self._graph.results for one in nodes)

    def _runs(self, ran: Sequence[Part | int]) -> list[tuple[object, list[Part | int], bool]]:
        """Group what ran one after the other at one line. With a line goes what a function ran that
        it called after its first ops, ``a * b + turned(c)``; that is a whole statement."""
        runs: list[tuple[object, list[Part | int], bool]] = []
        for line, run in groupby(ran, self._line):
            then = list(run)
            places = range(len(runs) - 2, max(-1, len(runs) - 2 - MOST_CALLED), -1)
            at = next((at for at in places if runs[at][0] == line is not None), -1)
            called = runs[at + 1 :] if at >= 0 else []
            inside = [head for _, heads, _ in called for head in heads]
            is_called = called and all(one is not None for one, _, _ in called)
            if is_called and self._wait(runs[at][1], inside, then):
                runs[at:] = [(line, [*runs[at][1], *inside, *then], True)]
            else:
                runs.append((line, then, False))
        return runs

    def _wait(
        self, heads: Sequence[Part | int], inside: Sequence[Part | int], then: Sequence[Part | int]
    ) -> bool:
        """Return whether results of ``heads`` are not read inside, but by what comes then, which
        does not begin another round, of equal ops."""
        members, inputs = self._ops.heads.members, self._units.inputs

        def units(some: Sequence[Part | int]) -> set[int]:
            return {unit for head in some for unit in members(head)}  # type: ignore[arg-type]

        made = units(heads)
        read, used = (
            {one for unit in units(some) for one in inputs[unit]} for some in (inside, then)
        )
        stems = self._units.stems
        return not made & read and bool(made & used) and stems[heads[-1]] != stems[then[-1]]  # type: ignore[index]

    def _line(self, one: Part | int) -> object:
        """Return the line of an op, itself where that is unknown; None of what is a part."""
        if isinstance(one, Part):
            return None
        return self._graph.sources.get(self._units.node(one), one)

    def _statement(self, heads: Sequence[Part | int]) -> Part:
        members = self._ops.heads.members
        units = tuple([unit for head in heads for unit in members(head)])  # type: ignore[arg-type]
        return self._part("statement", "", units, ())

    def _is_data(self, part: Part) -> bool:
        return part.kind == "statement" and self._data.issuperset(part.units)

    def _with_folds(self, parts: list[Part]) -> list[Part]:
        while True:
            symbols = [one.signature for one in parts]
            chosen: list[tuple[int, int, int]] = []
            taken = bytearray(len(parts))
            for start, stop, period in periodic_stretches(symbols, LEAST_MODULES):
                if period > LONGEST_PERIOD or any(taken[start:stop]):
                    continue
                start = self._natural_start(parts, start, stop, period)
                count = (stop - start) // period
                labels = [
                    {one.label for one in parts[start + at : stop : period]} for at in range(period)
                ]
                others = any(len(known) > 1 for known in labels)
                if count < (LEAST_MODULES if others else LEAST_STATEMENTS):
                    continue
                if any(one.kind == "fold" for one in parts[start : start + period]) and period == 1:
                    continue
                stop = start + count * period
                taken[start:stop] = b"\1" * (stop - start)
                chosen.append((start, stop, period))
            if not chosen:
                return parts
            folded, last = [], 0
            for start, stop, period in sorted(chosen):
                folded += parts[last:start]
                rounds = [parts[at : at + period] for at in range(start, stop, period)]
                folded.append(self._fold([self._round(one) for one in rounds]))
                last = stop
            parts = folded + parts[last:]

    def _natural_start(self, parts: Sequence[Part], start: int, stop: int, period: int) -> int:
        """Begin rounds with what the names of modules begin with: ``2.conv`` before ``2.norm``."""
        if period == 1:
            return start

        def modules(offset: int) -> int:
            first = parts[start + offset : start + offset + period]
            return len({one.label.rpartition(".")[0] for one in first if one.kind == "module"})

        return start + min(range(min(period, (stop - start) % period + 1)), key=modules)

    def _round(self, parts: Sequence[Part]) -> Part:
        if len(parts) == 1:
            return parts[0]
        return self._part("round", "", _units(parts), tuple(parts))

    def _fold(self, rounds: Sequence[Part]) -> Part:
        return self._part("fold", "", _units(rounds), tuple(rounds))

    def _in_bands(self, parts: list[Part]) -> list[Part]:
        """Put statements in a row into bands, as few of them as it takes."""
        width = max(2, len(parts) // (MOST_SIBLINGS // 2))
        banded: list[Part] = []
        for kind, run in groupby(parts, lambda one: one.kind in ("statement", "band")):
            of_it = list(run)
            if not kind:
                banded += of_it
                continue
            for at in range(0, len(of_it), width):
                band = of_it[at : at + width]
                if len(band) == 1:
                    banded += band
                else:
                    inside = [two for one in band for two in (one.children or (one,))]
                    banded.append(self._part("band", "", _units(band), tuple(inside)))
        return banded

    def _part(
        self, kind: PartKind, label: str, units: tuple[int, ...], children: Sequence[Part]
    ) -> Part:
        inside = tuple(children)
        key: object
        if kind == "statement":
            heads = self._ops.heads_among(units)
            stems, names = self._units.stems, self._units.parameters
            key = tuple([(stems[u], *map(_pattern, names.get(u, ()))) for u in heads])
        elif kind == "fold":
            key = (kind, len(inside), inside[0].signature)
        else:
            name = _pattern(label.rpartition(".")[2]) if kind == "module" else ""
            key = (kind, name, self._graph.modules.get(label, ""), *[c.signature for c in inside])
            if kind == "module" and not inside:
                key = (key, *(self._units.stems[unit] for unit in units))
        shape = self._ops.shape(units[-1]) if self._by_shape and units else None
        shape = shape and (shape[1:] or shape)  # how many there are may differ
        states = {one.state for one in inside} if inside else {self._state_of(units)}
        state = max(states)
        whole = key, shape, state
        rows = 1
        if kind == "fold":
            rows = 1 if not inside[0].opens else 1 + _rows_within(_typical(inside))
        elif inside:
            rows = 1 + sum(one.rows for one in inside)
        module = self._graph.modules.get(label, "") if kind == "module" else ""
        if module in CONTAINERS:
            module += "".join(f" {one.module or self._stem(one)}" for one in inside)
        is_mixed = len(states) > 1 or any(one.is_mixed for one in inside)
        own = {one.module for one in inside if one.module and not one.is_container}
        classes = frozenset(own).union(*(one.inside for one in inside))
        number = self._number(whole)
        return Part(kind, label, units, inside, number, rows, state, is_mixed, module, classes)

    def _stem(self, part: Part) -> str:
        return self._units.stems[part.units[0]] if part.units else part.kind

    def _state_of(self, units: Sequence[int]) -> int:
        """A statement is dead where no gradient that arrives in it is other than 0."""
        states = {self._sick[unit] for unit in units if self._sick[unit] >= 0}
        return max(states) if len(states) == 1 or BROKEN in states else HEALTHY

    def _number(self, key: object) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


def _rows_within(part: Part) -> int:
    return sum(one.rows for one in part.children) if part.children else 1


def _typical(rounds: Sequence[Part]) -> Part:
    """Return the first of the commonest rounds."""
    signature = Counter(one.signature for one in rounds).most_common(1)[0][0]
    return next(one for one in rounds if one.signature == signature)


def typical_place(rounds: Sequence[Part]) -> int:
    """Return the place of the first of the commonest rounds."""
    typical = _typical(rounds)
    return next(at for at, one in enumerate(rounds) if one is typical)


def _units(parts: Sequence[Part]) -> tuple[int, ...]:
    return tuple(unit for one in parts for unit in one.units)


@lru_cache(maxsize=4096)
def _pattern(name: str) -> str:
    return _DIGITS.sub("#", name)


def _shared(one: Sequence[Segment], other: Sequence[Segment]) -> int:
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count


def parts_below(part: Part) -> Iterator[Part]:
    """Yield a part and all inside it."""
    waiting = [part]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += reversed(one.children)
