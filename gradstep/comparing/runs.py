"""Goes through the calls of two runs, to the first place where they differ."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Final, Literal, NamedTuple

import numpy as np

from gradstep.comparing.align import Alignment, Change, Renamed, align, changes
from gradstep.comparing.circumstances import Circumstance, circumstances
from gradstep.comparing.values import (
    Gap,
    Tolerance,
    Value,
    alike,
    coarser,
    described_gap,
    gap,
    number_gap,
)
from gradstep.comparing.wrappers import bare_names
from gradstep.graph.columns import Ints
from gradstep.graph.model import Graph, Source
from gradstep.graph.statistics import Statistics
from gradstep.graph.statistics_table import StatisticsTable
from gradstep.recording.facts import NONE, CallFacts, Flow, Header, Leaf, LeafFacts, Values
from gradstep.recording.run import MemoryRun, Run, graph_of, structure_of
from gradstep.text import in_shell

_FACTOR: Final = 10.0
"""A place is shown on the way of a difference where it has grown so many times."""
_MOST_CALLS: Final = 12
_MOST_INPUTS: Final = 50
"""Ops before a place whose results are unknown that are named, and looked through for others."""


_RANDOM: Final = frozenset([
    "bernoulli", "cauchy", "exponential", "geometric", "log_normal", "multinomial",
    "native_dropout", "normal", "poisson", "rand", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "random", "randperm", "rrelu", "rrelu_with_noise", "uniform",
])  # fmt: skip
"""Ops that draw random numbers."""
_UNWRITTEN: Final = frozenset(["empty", "empty_like", "empty_strided", "new_empty"])
"""Ops whose results are memory that nobody has written."""


class FlowPlace(NamedTuple):
    """Where something flowed in both runs.

    Attributes:
        role: what is there: a result of the forward pass, the sum of the gradients that a node
            received, one gradient that it sent, or the ``.grad`` of a leaf.
        node, partner: the node in either graph.
        target: of a gradient that was sent, the node that it went to; else -1.
        values: the numbers of the two values, NONE of an undefined gradient.
    """

    role: Literal["result", "sum", "gradient", ".grad"]
    node: int
    partner: int
    target: int
    values: tuple[int, int]


class Where(NamedTuple):
    """A node or a leaf, as a report names it, and how far the runs are apart there."""

    address: str
    gap: Gap | None


@dataclass(frozen=True)
class Divergence:
    """The first place where two runs differ.

    Attributes:
        index: the call, among all of the run.
        leaf: the leaf whose numbers differ, "" where it is something else.
        is_random: whether random numbers are drawn there.
        call: the title of the call.
        line: where the program makes the call.
        what: what differs there: ``the result of 0/relu:1``.
        gap: how far.
        source: the line of the program that made it.
        inputs: what went in there, None as the gap where that is unknown.
        unknown: what ran before, and of which nothing is known: it may be the first.
        is_certain: whether all that went in there was compared, number by number.
        growth: the places on the way from there at which the difference has grown ten times.
        leaves: the leaves that differ at the end of the call, worst first.
        leaf_count: how many leaves were compared.
        command: records more of the call, "" where that is not needed.
    """

    call: str
    line: Source | None
    what: str
    gap: Gap
    source: Source | None = None
    inputs: tuple[Where, ...] = ()
    unknown: tuple[str, ...] = ()
    is_certain: bool = False
    growth: tuple[Where, ...] = ()
    leaves: tuple[Where, ...] = ()
    leaf_count: int = 0
    command: str = ""
    index: int = 0
    leaf: str = ""
    is_random: bool = False


class Difference(NamedTuple):
    """A difference of two graphs, in words: the address and line in either, "" and None for none,
    and the module."""

    what: Literal["removed", "added", "changed"]
    addresses: tuple[str, str]
    module: str
    sources: tuple[Source | None, Source | None]
    details: tuple[str, ...]


class CallGap(NamedTuple):
    """How far two runs are apart in one call: its loss, None where that is no number, and the leaf
    that differs most."""

    call: str
    loss: Gap | None
    leaf: Where | None


@dataclass
class Comparison:
    """What two runs have in common, and what not.

    Attributes:
        tolerance: what was not counted as a difference.
        calls: how many calls both made; ``only`` how many more the one or the other.
        full: how many of these calls both have in full.
        structures: how the graphs differ, in call ``structure_call``.
        renamed: modules that only have another name; compiled: of each part that one run has
            compiled, the number of ops in either. Neither is a difference.
        first: the first difference of values beyond the tolerance.
        first_bit: where there is none, the first of any size.
        circumstances: what is different about the programs and where they ran.
        why: the one of these from which the first difference follows, None where nobody can tell.
        over_calls: how the difference goes on from there.
        values, same: how many values were compared, and how many of them agree to the bit.
        described: how many were known by what describes them only.
        shown: the call to look at, as both have it: the first that differs, else the first.
        places: the nodes of its graph, in the first run, at which values differ beyond the
            tolerance, in the order in which they ran, and how far.
    """

    tolerance: Tolerance
    calls: int = 0
    only: tuple[int, int] = (0, 0)
    full: int = 0
    structure_call: str = ""
    structures: list[Difference] = field(default_factory=list)
    renamed: list[Renamed] = field(default_factory=list)
    compiled: list[tuple[int, int]] = field(default_factory=list)
    first: Divergence | None = None
    first_bit: Divergence | None = None
    circumstances: list[Circumstance] = field(default_factory=list)
    why: Circumstance | None = None
    over_calls: list[CallGap] = field(default_factory=list)
    values: int = 0
    same: int = 0
    described: int = 0
    shown: tuple[CallFacts, CallFacts] | None = None
    places: dict[int, Gap] = field(default_factory=dict)

    @property
    def is_equal(self) -> bool:
        """Whether nothing differs beyond the tolerance."""
        return self.first is None and not self.structures and not any(self.only)


def compare(one: Run, other: Run, tolerance: Tolerance, *, counts_calls: bool = True) -> Comparison:
    """Return where two runs first differ; unless ``counts_calls``, one may make more calls, as of
    a single graph.
    """
    comparison = Comparison(tolerance)
    calls = {(call.kind, call.number): call for call in one.calls()}
    partners = {(call.kind, call.number): call for call in other.calls()}
    pairs = [(calls[key], partners[key]) for key in calls if key in partners]
    comparison.calls = len(pairs)
    if counts_calls:
        comparison.only = len(calls) - len(pairs), len(partners) - len(pairs)
    both = _Both(one, other, comparison)
    for at, (call, partner) in enumerate(pairs):
        had_structures = bool(comparison.structures)
        both.compare_call(call, partner)
        differs = comparison.structures or comparison.first
        if comparison.shown is None or (differs and not had_structures):
            comparison.shown = call, partner
        elif differs:
            comparison.places = {}  # they are those of a later call than the one that is shown
        if comparison.first is not None:
            rest = pairs[at:]
            shown = [2**n - 1 for n in range(len(rest).bit_length())][-_MOST_CALLS:]
            for place in dict.fromkeys([*shown, len(rest) - 1]):
                comparison.over_calls.append(both.call_gap(*rest[place]))
            break
    if not comparison.is_equal or comparison.first_bit:
        comparison.circumstances = circumstances(one, other)
        comparison.why = _why(comparison)
    return comparison


def _why(comparison: Comparison) -> Circumstance | None:
    """Return what the first difference follows from: its own line, or an option of an optimizer
    that has made a step before; or other random numbers, of what the program makes at first."""
    first = comparison.first or comparison.first_bit
    places = [source for each in comparison.structures[:1] for source in each.sources]
    if not places and first is not None:
        places = [first.source]
    kinds: dict[str, list[Circumstance]] = {}
    for circumstance in comparison.circumstances:
        kinds.setdefault(circumstance.kind, []).append(circumstance)
        if any(place and place in circumstance.sources for place in places):
            return circumstance
    if comparison.structures or first is None or not (first.leaf or first.is_random):
        return None
    if first.index > 1 and first.leaf:
        return next(iter(kinds.get("option", ())), None)
    seeds = [each for each in kinds.get("setting", ()) if each.name == "seed"]
    return seeds[0] if seeds and (first.is_random or "line" not in kinds) else None


def run_of_graph(graph: Graph, command: tuple[str, ...] = ()) -> MemoryRun:
    """Return a run of one call that has a graph, with the statistics in it."""
    run = MemoryRun(Header(command))
    structure = structure_of(graph)
    run.add_structure(structure)
    parts: list[Statistics | None] = [*graph.statistics.values(), *graph.edge_statistics.values()]
    count = len(graph.statistics)
    shapes = [*map(graph.shapes.__getitem__, graph.statistics)]
    shapes += map(graph.edge_shapes.__getitem__, graph.edge_statistics)
    dtypes = [*map(graph.dtypes.__getitem__, graph.statistics)]
    dtypes += map(graph.edge_dtypes.__getitem__, graph.edge_statistics)
    flow = Flow(
        Values(StatisticsTable.of(parts), shapes, dtypes),
        dict(zip(graph.statistics, range(count), strict=True)),
        dict(zip(graph.edge_statistics, range(count, len(parts)), strict=True)),
        graph.undefined,
        graph.edge_undefined,
    )
    run.add_ended(CallFacts(1, "backward", 1, None, "stats", structure.key), (), flow)
    run.add_end()
    return run


def shown_graphs(one: Run, other: Run, comparison: Comparison) -> Alignment | None:
    """Return the graphs of the call that a comparison shows, None where there are none."""
    graphs = []
    for run, call in zip((one, other), comparison.shown or (), strict=False):
        if call.index in run.full:
            graphs.append(graph_of(run, call.index))
        elif call.structure:
            graphs.append(run.graph(call.structure))
    return align(*graphs) if len(graphs) == 2 else None


def _leaves_by_name(run: Run) -> dict[str, Leaf]:
    """Return the leaves of a run by the names that they have in the plain model."""
    structure = next((call.structure for call in run.calls() if call.structure), "")
    modules = run.graph(structure).modules if structure else {}
    bare = bare_names(modules, [leaf.name for leaf in run.leaves if leaf.is_parameter])
    return {bare(leaf.name): leaf for leaf in run.leaves}


class _Both:
    """Two runs that are compared, call by call."""

    def __init__(self, one: Run, other: Run, comparison: Comparison) -> None:
        self.runs = one, other
        self.comparison = comparison
        self._names = _leaves_by_name(one), _leaves_by_name(other)
        self.leaves = {
            leaf.number: (name, partner.number, coarser(leaf.dtype, partner.dtype))
            for name, leaf in self._names[0].items()
            if (partner := self._names[1].get(name)) is not None and leaf.is_part == partner.is_part
        }
        self._full = [frozenset(run.full) for run in self.runs]
        self._aligned: dict[tuple[str, str], Alignment] = {}

    def aligned(self, call: CallFacts, partner: CallFacts) -> Alignment:
        """Return the graphs of a call, and which nodes stand for each other; what differs is
        noted the first time."""
        keys = call.structure, partner.structure
        if keys not in self._aligned:
            one = self.runs[0].graph(keys[0])
            if keys[0] == keys[1]:
                self._aligned[keys] = Alignment(one, one, np.arange(len(one)))
                return self._aligned[keys]
            pair = self._aligned[keys] = align(one, self.runs[1].graph(keys[1]))
            self._pair_renamed(pair)
            comparison = self.comparison
            comparison.renamed += [each for each in pair.renamed if each not in comparison.renamed]
            comparison.compiled = comparison.compiled or [
                (_ops_in(pair.one, part.one), _ops_in(pair.other, part.other))
                for part in pair.compiled
            ]
            if not comparison.structures:
                comparison.structures = structure_differences(pair)
                comparison.structure_call = call.title
        return self._aligned[keys]

    def _pair_renamed(self, pair: Alignment) -> None:
        """Let the leaves of a module stand for those of the same one under another name."""
        mine, its = self._names
        for id, partner in enumerate(pair.partners.tolist()):
            names = pair.one.variables.get(id), pair.other.variables.get(partner)
            if partner < 0 or names[0] == names[1] or pair.one.kinds[id] == "op":
                continue
            leaf, there = mine.get(names[0] or ""), its.get(names[1] or "")
            if leaf and there and leaf.is_part == there.is_part and leaf.number not in self.leaves:
                dtype = coarser(leaf.dtype, there.dtype)
                self.leaves[leaf.number] = names[0] or "", there.number, dtype

    def compare_call(self, call: CallFacts, partner: CallFacts) -> None:
        """Look for the first difference in a call."""
        is_full = call.index in self._full[0] and partner.index in self._full[1]
        self.comparison.full += is_full
        if call.structure and partner.structure:
            self.aligned(call, partner)
        facts = self._leaf_facts(call, partner)
        divergence = self._in_flow(call, partner) if is_full else None
        self._note(divergence)
        if self.comparison.first is None:
            self._note(self._in_facts(call, partner, facts, is_full))
        first = self.comparison.first
        if first is not None:
            leaves = [Where(name, _leaf_gap(mine, its, dtype)) for name, mine, its, dtype in facts]
            differing = [leaf for leaf in leaves if leaf.gap and not leaf.gap.is_same]
            differing.sort(key=lambda place: -place.gap.relative if place.gap else 0.0)
            self.comparison.first = replace(first, leaves=tuple(differing), leaf_count=len(leaves))

    def _note(self, divergence: Divergence | None) -> None:
        if divergence is None:
            return
        if divergence.gap.is_beyond(self.comparison.tolerance):
            self.comparison.first, self.comparison.first_bit = divergence, None
        elif self.comparison.first_bit is None:
            self.comparison.first_bit = divergence

    def _leaf_facts(
        self, call: CallFacts, partner: CallFacts
    ) -> list[tuple[str, LeafFacts, LeafFacts, str]]:
        there = {leaf.leaf: leaf for leaf in self.runs[1].of_leaves(partner.index)}
        known = [
            (leaf, self.leaves[leaf.leaf])
            for leaf in self.runs[0].of_leaves(call.index)
            if leaf.leaf in self.leaves
        ]
        return [(name, one, there[at], dtype) for one, (name, at, dtype) in known if at in there]

    # --- what every call has --------------------------------------------------------------------

    def _in_facts(
        self,
        call: CallFacts,
        partner: CallFacts,
        facts: list[tuple[str, LeafFacts, LeafFacts, str]],
        is_full: bool,
    ) -> Divergence | None:
        """Look through what is known of each call, in the order in which it came to be."""
        known: list[tuple[str, Gap]] = []
        for name, mine, its, dtype in () if is_full else facts:
            sizes = mine.parameter_rms, its.parameter_rms
            if sizes[0] is not None and sizes[1] is not None:
                known.append((f"the size of {name}", number_gap(sizes[0], sizes[1], dtype)))
        if call.loss is not None and partner.loss is not None:
            # of what dtype a loss is, nobody noted: that of its leaves, most likely
            dtypes = [dtype for *_, dtype in facts]
            dtype = reduce(coarser, dtypes) if dtypes else ""
            known.append(("the loss", number_gap(call.loss, partner.loss, dtype)))
        known += [(f"{name}.grad", _leaf_gap(mine, its, dtype)) for name, mine, its, dtype in facts]
        self._count([gap for _, gap in known])
        beyond = [pair for pair in known if pair[1].is_beyond(self.comparison.tolerance)]
        differing = beyond or [pair for pair in known if not pair[1].is_same]
        if not differing:
            return None
        what, apart_by = differing[0]
        command = "" if call.level == partner.level == "all" else self._command(call)
        return Divergence(call.title, call.line, what, apart_by, command=command, index=call.index)

    def _count(self, gaps: list[Gap]) -> None:
        self.comparison.values += len(gaps)
        self.comparison.same += sum(gap.is_same for gap in gaps)
        self.comparison.described += sum(not gap.is_exact for gap in gaps)

    def call_gap(self, call: CallFacts, partner: CallFacts) -> CallGap:
        """Return how far the runs are apart in a call."""
        losses = call.loss, partner.loss
        loss = None if None in losses else number_gap(*losses)  # type: ignore[arg-type]
        leaves = [
            Where(f"{name}.grad", _leaf_gap(mine, its, dtype))
            for name, mine, its, dtype in self._leaf_facts(call, partner)
        ]
        worst = max(
            leaves,
            key=lambda leaf: (leaf.gap.relative, not leaf.gap.is_same) if leaf.gap else (),
            default=None,
        )
        return CallGap(call.title, loss, worst)

    def _command(self, call: CallFacts) -> str:
        program = in_shell(self.runs[0].header.command or ("TARGET",))
        return f"gradstep record --call {call.option} --values all {program}"

    # --- what a call in full has ----------------------------------------------------------------

    def _in_flow(self, call: CallFacts, partner: CallFacts) -> Divergence | None:
        """Look through all that flowed in a call, in the order in which it ran."""
        one, other, partners, *_ = self.aligned(call, partner)
        mine, its = (
            run.flow(facts.index, steps=False)
            for run, facts in zip(self.runs, (call, partner), strict=True)
        )
        if mine is None or its is None:
            return None
        look = _Look(mine, its)
        difference: tuple[FlowPlace, Gap] | None = None
        any_size: tuple[FlowPlace, Gap] | None = None
        growth: list[Where] = []
        gaps = []
        beyond: dict[int, Gap] = {}
        for place in _places(one, other, partners, mine, its):
            distance = look.gap(place.values)
            if distance is None:
                continue
            gaps.append(distance)
            if distance.is_beyond(self.comparison.tolerance):
                beyond.setdefault(place.node, distance)
            if distance.is_same:
                continue
            any_size = any_size or (place, distance)
            if difference is None and distance.is_beyond(self.comparison.tolerance):
                difference = place, distance
                growth.append(Where(_what(one, place), distance))
            elif difference and growth[-1].gap and _grown(growth[-1].gap, distance):
                growth.append(Where(_what(one, place), distance))
        self._count(gaps)
        self.comparison.places = beyond
        where = difference or any_size
        if where is None:
            return None
        first, distance = where
        inputs, unknown = _inputs_at(one, partners, (mine, its), look, first)
        has_numbers = call.level == partner.level == "all"
        is_certain = has_numbers and not unknown
        is_certain &= all(place.gap is not None and place.gap.is_exact for place in inputs)
        return Divergence(
            call.title,
            call.line,
            _what(one, first),
            distance,
            one.sources.get(first.node),
            inputs,
            unknown,
            is_certain,
            tuple(growth[1:]),
            command="" if has_numbers else self._command(call),
            index=call.index,
            leaf=one.variables.get(first.node, "") if first.role == "result" else "",
            is_random=first.role == "result" and one.stem(first.node) in _RANDOM,
        )


class _Look:
    """Reads the values of two calls, each pair once."""

    def __init__(self, one: Flow, other: Flow) -> None:
        self._flows = one, other
        self._gaps: dict[tuple[int, int], Gap | None] = {}
        self._parts = tuple(list(flow.values.statistics) for flow in self._flows)

    def gap(self, numbers: tuple[int, int]) -> Gap | None:
        """Return how far two values are apart, None where nobody knows; NONE is an undefined
        gradient."""
        if numbers not in self._gaps:
            self._gaps[numbers] = self._measure(*numbers)
        return self._gaps[numbers]

    def _measure(self, one: int, other: int) -> Gap | None:
        parts = [
            None if number == NONE else self._parts[side][number]
            for side, number in enumerate((one, other))
        ]
        if NONE in (one, other):
            return described_gap(parts[0], parts[1])
        if None in parts:
            return None  # without data, or in parts on several processes
        values = [
            Value(part, flow.values.shapes[number], flow.values.dtypes[number], array(number))
            for flow, number, part in zip(self._flows, (one, other), parts, strict=True)
            for array in [flow.values.array]
        ]
        return gap(values[0], values[1])


def _places(one: Graph, other: Graph, partners: Ints, mine: Flow, its: Flow) -> Iterator[FlowPlace]:
    """Yield where something is known of both calls, in the order in which it came to be."""
    matched = partners.tolist()
    edges: dict[tuple[int, int, int, int], int] = {}
    if one is not other:
        edges = {
            (source, nr, target, at): edge
            for edge, (kind, source, nr, target, at) in enumerate(
                zip(other.edge_kinds, other.edge_sources, other.edge_output_nrs,
                    other.edge_targets, other.edge_input_nrs, strict=True)
            )
            if kind == "gradient"
        }  # fmt: skip
    sent: dict[int, list[int]] = {}
    for edge, kind in enumerate(one.edge_kinds):
        if kind == "gradient":
            sent.setdefault(one.edge_sources[edge], []).append(edge)
    forward = [id for id, half in enumerate(one.halves) if half == "forward"]
    backward = [id for id, half in enumerate(one.halves) if half == "backward"]
    backward.sort(key=lambda id: one.orders.get(id, -1))
    for id in (*forward, *backward):
        partner = matched[id]
        if partner < 0:
            continue
        values = _numbers((mine.nodes, mine.undefined, id), (its.nodes, its.undefined, partner))
        if values is not None:
            role: Literal["result", "sum", ".grad"] = "result"
            if one.halves[id] == "backward":
                role = "sum" if one.kinds[id] in ("op", "seed") else ".grad"
            yield FlowPlace(role, id, partner, -1, values)
        for edge in sent.get(id, ()):
            target = one.edge_targets[edge]
            nrs = one.edge_output_nrs[edge], one.edge_input_nrs[edge]
            there = (
                edge if one is other else edges.get((partner, nrs[0], matched[target], nrs[1]), -1)
            )
            values = _numbers(
                (mine.edges, mine.edge_undefined, edge), (its.edges, its.edge_undefined, there)
            )
            if values is not None:
                yield FlowPlace("gradient", id, partner, target, values)


def _numbers(
    mine: tuple[Mapping[int, int], frozenset[int], int],
    its: tuple[Mapping[int, int], frozenset[int], int],
) -> tuple[int, int] | None:
    """Return the numbers of two values, NONE of an undefined one; None where one is unknown."""
    numbers = []
    for known, undefined, id in (mine, its):
        if id not in known and id not in undefined:
            return None
        numbers.append(known.get(id, NONE))
    return numbers[0], numbers[1]


def _inputs_at(
    graph: Graph, partners: Ints, flows: tuple[Flow, Flow], look: _Look, place: FlowPlace
) -> tuple[tuple[Where, ...], tuple[str, ...]]:
    """Return what went into a place, and what ran before of which nothing is known."""
    mine, its = flows
    wanted = "value" if place.role == "result" else "gradient"
    if place.role == "gradient":
        # a gradient comes of the one that arrived, and of what the node has saved
        pair = graph.pairs.get(place.node, -1)
        start = [place.node, *_producers(graph, pair)]
    else:
        start = _sources(graph, place.node, wanted)
    inputs: list[Where] = []
    unknown: list[str] = []
    seen = set(start)
    queue = [(id, True) for id in start]
    while queue and len(seen) < _MOST_INPUTS:
        id, is_input = queue.pop(0)
        if graph.kinds[id] == "op" and graph.stem(id) in _UNWRITTEN:
            continue
        partner = int(partners[id])
        numbers = mine.nodes.get(id, NONE), its.nodes.get(partner, NONE)
        is_known = NONE not in numbers
        if is_input:
            inputs.append(Where(_name(graph, id), look.gap(numbers) if is_known else None))
        if not is_known and graph.halves[id] == "forward":
            unknown.append(graph.address(id))
            following = [source for source in _sources(graph, id, "value") if source not in seen]
            seen.update(following)
            queue += [(node, False) for node in following]
    return tuple(inputs), tuple(unknown)


def _sources(graph: Graph, node: int, kind: str) -> list[int]:
    return [
        graph.edge_sources[edge]
        for edge, target in enumerate(graph.edge_targets)
        if target == node and graph.edge_kinds[edge] == kind
    ]


def _producers(graph: Graph, node: int) -> list[int]:
    return _sources(graph, node, "value") if node >= 0 else []


def _name(graph: Graph, id: int) -> str:
    if graph.halves[id] == "backward":
        return f"the gradient at {graph.address(id)}"
    return graph.address(id)


def _what(graph: Graph, place: FlowPlace) -> str:
    address = graph.address(place.node)
    if place.role == "result":
        return f"the result of {address}" if graph.kinds[place.node] == "op" else address
    if place.role == "sum":
        return f"the sum of gradients at {address}"
    if place.role == ".grad":
        return f"{address}.grad"
    return f"the gradient that {address} sends to {graph.address(place.target)}"


def _grown(before: Gap, now: Gap) -> bool:
    return math.isfinite(before.relative) and now.relative >= _FACTOR * before.relative > 0


def structure_differences(pair: Alignment) -> list[Difference]:
    """Return how two graphs differ, in words."""
    return [_difference(pair.one, pair.other, change) for change in changes(pair)]


def _ops_in(graph: Graph, part: frozenset[int]) -> int:
    """Count the ops that a gradient reaches: of others, graphs do not tell alike."""
    forward = (id for id in part if graph.halves[id] == "forward")
    return sum(graph.kinds[id] == "op" and id in graph.pairs for id in forward)


def _difference(one: Graph, other: Graph, change: Change) -> Difference:
    sides = (one, change.one), (other, change.other)
    scopes = [graph.scopes[id] for graph, id in sides if id >= 0]
    graph = one if change.one >= 0 else other
    kind = graph.modules.get(scopes[0], "")
    return Difference(
        change.what,
        (one.address(change.one) if change.one >= 0 else "",
         other.address(change.other) if change.other >= 0 else ""),
        f"{scopes[0]} ({kind})" if scopes[0] and kind else scopes[0],
        (one.sources.get(change.one), other.sources.get(change.other)),
        change.details,
    )  # fmt: skip


def _leaf_gap(one: LeafFacts, other: LeafFacts, dtype: str) -> Gap:
    sums = one.after_checksum, other.after_checksum
    if None not in sums and sums[0] == sums[1]:
        return alike(dtype, True)
    distance = described_gap(one.after, other.after, dtype)
    return distance if None in sums else distance._replace(is_same=False, is_exact=True)
