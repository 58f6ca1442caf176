"""Builds the fold tree of a graph: modules and loops by the paths of ops, then rounds of what is
alike."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from gradstep.graph.folding.bands import MOST_OPS, MOST_SIBLINGS, WIDTH, Lines, cut_into_bands
from gradstep.graph.folding.chains import Heads
from gradstep.graph.folding.paths import Paths, Segment
from gradstep.graph.folding.repeats import LEAST_OPS, LEAST_ROUNDS, Rounds, find_rounds
from gradstep.graph.folding.tree import LEAST_GROUP, Fold, FoldKind, fold_of, heads_below
from gradstep.graph.folding.units import Units
from gradstep.graph.model import Graph, Source

LEAST_DATA = 4
"""Fewer ops without a gradient, as those that make a mask, are drawn one by one."""

MOST_LOOSE = 3
"""So many rounds of a loop, or runs of rounds that are alike, are drawn side by side."""

MOST_IN_NAME = 3
"""So many modules and ops name a round that no loop of the program has made."""

CONTAINERS = frozenset(["ModuleList", "ModuleDict", "Sequential"])

_DIGITS = re.compile(r"\d+")


class TreeBuilder:
    """Builds the tree from the heads, one by one in their order; more than ``most`` things side by
    side are cut into bands."""

    def __init__(self, graph: Graph, units: Units, heads: Heads, most: int = MOST_SIBLINGS) -> None:
        self._most = most
        self._width = min(most, WIDTH)
        self._units = units
        self._heads = heads
        self._numbers: dict[object, int] = {}
        self._patterns: dict[str, str] = {}
        self._graph = graph
        self._data = units.without_gradient()

    def build(self) -> Fold:
        """Return the root, whose label is ""."""
        opened: list[tuple[Segment | None, list[Fold]]] = [(None, [])]
        path: tuple[Segment, ...] = ()
        paths = Paths(self._graph, self._units)
        for unit, main in enumerate(self._heads.mains):
            if main != unit:
                continue
            wanted = paths.of(unit)
            if wanted != path:
                shared = _shared(path, wanted)
                while len(opened) > shared + 1:
                    self._close(opened)
                opened += [(segment, []) for segment in wanted[shared:]]
                path = wanted
            opened[-1][1].append(self._head(unit, self._units.scopes[unit]))
        while len(opened) > 1:
            self._close(opened)
        children = self._arranged(self._with_data(opened[0][1], ""), "")
        return self._inner("scope", "", "", children)

    def _close(self, opened: list[tuple[Segment | None, list[Fold]]]) -> None:
        """Hand the innermost segment to the one around it; a scope of one thing is that thing."""
        segment, children = opened.pop()
        assert segment is not None
        outside = opened[-1][1]
        if segment.kind == "loop":
            outside += self._loop(children, segment.scope)
            return
        children = self._arranged(self._with_data(children, segment.scope), segment.scope)
        is_block = segment.kind == "scope" and not self._is_container(segment.label)
        if len(children) == 1 and is_block and self._is_container(children[0].label):
            children = list(children[0].children)  # a block goes by its own name and class
        if len(children) == 1 and (segment.kind == "scope" or children[0].kind == "scope"):
            outside += children
        else:
            outside.append(self._inner(segment.kind, segment.label, segment.scope, children))

    def _is_container(self, label: str) -> bool:
        return self._graph.modules.get(label) in CONTAINERS

    def _loop(self, rounds: list[Fold], scope: str) -> list[Fold]:
        """Return the rounds of a loop, with those in a row that are alike in one fold; rounds that
        are a module each are modules."""
        if len({one.label for one in rounds if one.kind == "scope"}) == len(rounds):
            return rounds
        if rounds[0].label.startswith("round "):  # of a loop over modules, or over other things
            inside = (one.children if one.kind == "iteration" else (one,) for one in rounds)
            names = self._names_of_rounds(inside, scope)
            rounds = [one._replace(label=name) for one, name in zip(rounds, names)] or rounds
        runs = [list(run) for _, run in groupby(rounds, lambda one: one.signature)]
        parts = [run[0] if len(run) == 1 else self._inner("loop", "", scope, run) for run in runs]
        if len(parts) <= MOST_LOOSE:
            return parts
        bands = self._in_bands(parts, scope, self._width)
        return [self._inner("band", _range(parts), scope, bands)]

    def _head(self, unit: int, scope: str) -> Fold:
        units = self._units
        key: object = units.stems[unit]
        if unit in units.parameters:
            key = (key, *map(self._pattern, units.parameters[unit]))
        boxes = 2 if units.forward[unit] >= 0 and units.backward[unit] >= 0 else 1
        return Fold("head", "", scope, unit, (), self._number(key), 1, boxes, boxes)

    def _inner(self, kind: FoldKind, label: str, scope: str, children: Sequence[Fold]) -> Fold:
        name = self._pattern(label.rpartition(".")[2]) if kind == "scope" else kind
        key: object = (kind, name, *[child.signature for child in children])
        if kind in ("repeat", "loop"):
            key = (kind, children[0].signature, len(children))
        return fold_of(kind, label, scope, children, self._number(key))

    def _with_data(self, children: list[Fold], scope: str) -> list[Fold]:
        """Return the children, with ops that ran one after the other, and get no gradient, in one
        fold."""
        if not self._data:
            return children
        folds: list[Fold] = []
        for is_data, run in groupby(children, self._is_data):
            parts = list(run)
            if is_data and sum(one.heads for one in parts) >= LEAST_DATA:
                label = self._results(parts) or self._ends(parts)
                data = self._inner("data", label, scope, self._arranged(parts, scope))
                parts = [data._replace(boxes=data.width)]
            folds += parts
        return folds

    def _is_data(self, fold: Fold) -> bool:
        """Return whether none of the ops in a head, or in rounds of a loop, gets a gradient."""
        if fold.kind in ("iteration", "loop", "data"):
            return all(map(self._is_data, fold.children))
        members = self._heads.members(fold.unit) if fold.kind == "head" else ()
        return bool(members) and self._data.issuperset(members)

    def _arranged(self, children: list[Fold], scope: str) -> list[Fold]:
        """Return the children of a scope, few enough to be drawn side by side: in rounds where they
        are alike, then in bands."""
        return self._in_bands(self._with_rounds(children, scope), scope)

    def _with_rounds(self, children: list[Fold], scope: str) -> list[Fold]:
        """Return the children, with runs of equal ones put into a repeat or a loop each, inner runs
        first, until there are none; those first that come from the same lines of the program."""
        few = len(children) < LEAST_ROUNDS or sum(one.heads for one in children) < LEAST_OPS
        if few and all(one.kind != "scope" for one in children):
            return children
        for symbols_of in (self._at_lines, _signatures):
            while True:
                symbols = symbols_of(children)
                repeats = find_rounds(children, symbols, self._units, self._heads, scope)
                if not repeats:
                    break
                rest, last = [], 0
                for rounds in repeats:
                    first = rounds.start - rounds.lead
                    rest += children[last:first]
                    if rounds.lead:
                        parts = children[first : rounds.start]
                        rest.append(self._inner("iteration", _round(0, parts, scope), scope, parts))
                    rest.append(self._repeat(children, rounds, scope))
                    last = rounds.stop
                children = rest + children[last:]
        return children

    def _at_lines(self, folds: Sequence[Fold]) -> list[int]:
        """Return for each fold a number for what it does at its line: two ops of a kind at
        different lines are no rounds of one loop."""
        node, source_of, number = self._units.node, self._graph.sources.get, self._number
        at_lines = []
        for fold in folds:
            source = source_of(node(fold.unit)) if fold.kind == "head" else None
            at_lines.append(fold.signature if source is None else number((fold.signature, source)))
        return at_lines

    def _in_bands(self, children: list[Fold], scope: str, most: int | None = None) -> list[Fold]:
        """Return the children, in bands where they are more than can be drawn side by side."""
        most = self._most if most is None else most
        if not scope and 2 * sum(child.kind == "head" for child in children) > len(children):
            most = min(most, MOST_OPS)
        if len(children) > most:
            children = self._in_statements(children, scope)
        while len(children) > most:
            lines = self._lines(children)
            folds: list[Fold] = []
            known = Counter[str]()
            for band in cut_into_bands(children, self._units, self._heads, lines, self._width):
                part = children[band.start : band.stop]
                label = _range(part) or self._results(part) or self._names(part, scope)
                label = label or _modules(part) or self._ends(part)
                known[label] += 1
                if known[label] > 1:  # the same ran again
                    label = f"{label} ({known[label]})"
                folds.append(self._inner("band", label, scope, part))
            children, most = folds, self._width
        return children

    def _in_statements(self, children: list[Fold], scope: str) -> list[Fold]:
        """Return the children, with ops that ran one after the other at one line, up to what a
        variable holds, in one band."""
        sources = self._graph.sources
        runs: list[tuple[Source | None, list[Fold]]] = []
        for fold in children:
            line = sources.get(self._units.node(fold.unit)) if fold.kind == "head" else None
            if runs and runs[-1][0] == line is not None and not self._result(runs[-1][1][-1]):
                runs[-1][1].append(fold)
            else:
                runs.append((line, [fold]))
        if len(runs) < LEAST_GROUP:
            return children
        folds: list[Fold] = []
        for _, run in runs:
            name = self._result(run[-1]) or self._names(run, scope)
            if len(run) < LEAST_GROUP or not name:
                folds += run
            else:
                folds.append(self._inner("band", name, scope, run))
        return folds

    def _result(self, fold: Fold) -> str:
        """Name what an op or a band ends with by the variable that holds it; "" for none."""
        while fold.kind == "band":
            fold = fold.children[-1]
        members = self._heads.members(fold.unit) if fold.kind == "head" else ()
        names = (self._graph.results.get(self._units.forward[unit], "") for unit in members)
        return next(filter(None, names), "")

    def _results(self, folds: Sequence[Fold]) -> str:
        """Name several folds by the first and the last variable that they end with; "" where the
        last one ends with none."""
        if not (last := self._result(folds[-1])):
            return ""
        heads = (head for fold in folds for head in heads_below(fold))
        first = next(filter(None, map(self._result, heads)))
        return " … ".join(dict.fromkeys((first, last)))

    def _names(self, folds: Sequence[Fold], scope: str) -> str:
        """Name ops by the first and the last module among them; "" where there is none."""
        names: dict[str, None] = {}
        for fold in folds:
            inside = fold.label if fold.kind == "scope" else self._units.scopes[fold.unit]
            if fold.kind in ("head", "scope") and inside != scope and inside in self._graph.modules:
                names[inside] = None
        known = list(names)
        return " … ".join(dict.fromkeys((known[0], known[-1]))) if known else ""

    def _lines(self, folds: Sequence[Fold]) -> list[Lines]:
        """Return the lines of each fold; [] unless those of each follow those of the one before it,
        in one file."""
        node, source_of = self._units.node, self._graph.sources.get
        runs: list[Lines] = []
        for fold in folds:
            sources = [source_of(node(head.unit)) for head in heads_below(fold)]
            known = [source for source in sources if source is not None]
            if not known:
                return []
            numbers = [source.line for source in known]
            lines = Lines(Path(known[0].file).name, min(numbers), max(numbers))
            if {source.file for source in known} != {known[0].file} or (
                runs and (runs[-1].file != lines.file or lines.first < runs[-1].last)
            ):
                return []
            runs.append(lines)
        return runs

    def _ends(self, parts: Sequence[Fold]) -> str:
        """Return the addresses of the first and the last op of several folds."""
        last = parts[-1]
        while last.children:
            last = last.children[-1]
        end = self._graph.address(self._units.node(last.unit))
        return f"{self._address(parts[0])} … {end.rpartition('/')[2]}"

    def _repeat(self, children: list[Fold], rounds: Rounds, scope: str) -> Fold:
        instances = []
        starts = range(rounds.start, rounds.stop, rounds.period)
        names = self._names_of_rounds(
            (children[start : start + rounds.period] for start in starts), scope
        )
        signature = -1  # of the rounds without names, which are all alike
        for number in range(rounds.number):
            start = rounds.start + number * rounds.period
            parts = children[start : start + rounds.period]
            if rounds.labels is None:
                place = number + bool(rounds.lead)
                label = names[number] if names else _round(place, parts, scope)
                label = self._address(parts[0]) if rounds.apart else label
                if signature < 0:
                    signature = self._inner("iteration", label, scope, parts).signature
                kind: FoldKind = "sibling" if rounds.apart else "iteration"
                instances.append(fold_of(kind, label, scope, parts, signature))
            elif len(parts) == 1 and parts[0].kind == "scope":
                instances.append(parts[0])
            else:
                instances.append(self._inner("scope", rounds.labels[number], scope, parts))
        is_loop = rounds.labels is None and not rounds.apart
        return self._inner("loop" if is_loop else "repeat", "", scope, instances)

    def _names_of_rounds(self, rounds: Iterable[Sequence[Fold]], scope: str) -> list[str]:
        """Name rounds by their modules, with the ops beside them where these are few; [] where some
        have none."""
        labels = list[str]()
        for parts in rounds:
            modules = [one.label if one.kind == "scope" else self._module(one) for one in parts]
            named = list(dict.fromkeys(name for name in modules if name not in ("", scope)))
            if not named or len(named) > MOST_IN_NAME:
                return []
            if len(parts) <= MOST_IN_NAME:
                ops = (self._units.stems[next(heads_below(one)).unit] for one in parts)
                named = [module or op for module, op in zip(modules, ops, strict=True)]
            classes = self._graph.modules  # beside the numbers in a Sequential
            named = [f"{classes.get(one, '')} {one}" if one.isdigit() else one for one in named]
            labels.append(" + ".join(named))
        if len(known := set(labels)) == 1:  # the same modules each time
            return [f"{label} {number}" for number, label in enumerate(labels, 1)]
        return labels if len(known) == len(labels) else []

    def _module(self, fold: Fold) -> str:
        """Return the module of an op that is all it runs, "" for none."""
        scope = self._units.scopes[fold.unit] if fold.kind == "head" else ""
        return scope if scope in self._graph.modules else ""

    def _address(self, fold: Fold) -> str:
        """Return the address of the first op below ``fold``."""
        while fold.children:
            fold = fold.children[0]
        return self._graph.address(self._units.node(fold.unit))

    def _number(self, key: object) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def _pattern(self, name: str) -> str:
        """Return a name with its numbers left out: what makes layers.3 like layers.4."""
        known = self._patterns.get(name)
        if known is None:
            known = self._patterns[name] = _DIGITS.sub("#", name)
        return known


def _range(rounds: Sequence[Fold]) -> str:
    """Name rounds by the first and the last of them, "" where some are none."""
    if any(one.kind not in ("iteration", "loop") for one in rounds):
        return ""
    first, last = rounds[0], rounds[-1]
    first = first.children[0] if first.kind == "loop" else first
    last = last.children[-1] if last.kind == "loop" else last
    return f"{first.label} … {last.label.rpartition(' ')[2]}"


def _modules(folds: Sequence[Fold]) -> str:
    """Name a band by its first and its last module, "" where most of it is in none, or in one."""
    modules = [one for one in folds if one.kind == "scope"]
    if 2 * sum(one.heads for one in modules) < sum(one.heads for one in folds):
        return ""
    names = [one.label for one in modules]
    return f"{names[0]} … {names[-1]}" if len(set(names)) > 1 else ""


def _signatures(folds: Sequence[Fold]) -> list[int]:
    return [fold.signature for fold in folds]


def _round(number: int, parts: Sequence[Fold], scope: str) -> str:
    """Return what a round is called that no loop of the program has made: a time step of a module,
    or one of several modules that are alike."""
    in_modules = any(part.scope != scope for part in parts)
    return f"round {number + 1}" if in_modules else f"t = {number}"


def _shared(one: tuple[Segment, ...], other: tuple[Segment, ...]) -> int:
    """Count the segments that two paths have in common from the start."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine != theirs:
            break
        count += 1
    return count
