"""Gradients that vanish or explode on their way through the graph, in the first call of a line."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final, NamedTuple

from gradstep.debugger.pass_session import PassSession
from gradstep.findings.facts import Fact, Facts, Graphs
from gradstep.findings.facts.history import History, Seen, histories
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.reports.why.sizes import Link, main_way
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.recording.look import Look

_ASIDE: Final = 100.0
"""Times as large, and the gradient does not vanish on the way to there."""
_ENDS: Final = 3
"""Of the smallest gradients, and of the largest ones, so many are followed back."""
_HUGE: Final = 1e6
_TINY: Final = 1e-12
"""Of the size of a weight: with the usual learning rates, one step destroys it, or changes none of
its digits."""
_STEPS: Final = 3
_MUCH: Final = 0.5
_LITTLE: Final = 1e-5
"""Of the size of a weight, by which a step changes it."""


class Way(NamedTuple):
    """What changes the size of a gradient most on its way from the loss: so many nodes of an op,
    the first one at an address, and by what factor; and the line of that one."""

    op: str
    address: str
    nodes: int
    factor: float
    source: Source | None


class Ways(Fact):
    """How the smallest and the largest gradients of a pass came to their sizes, by the names of the
    leaves, and which weights those passed on their way; and where in the pass of the first call
    each leaf comes."""

    needs = (Graphs,)

    def __init__(self) -> None:
        self.by_leaf: dict[str, dict[bool, Way | None]] = {}  # by whether it became smaller
        self.passed: dict[str, set[str]] = {}
        self.places: dict[str, int] = {}

    def asked(self, look: Look, session: PassSession) -> None:
        engine, names = look.engine, look.names
        sizes: dict[int, float] = {}
        for index, node in enumerate(session.order):
            if (leaf := engine.leaf(node)) is None:
                continue
            self.places.setdefault(names.of(leaf), index)
            totals = [incoming.total for incoming in session.inspector.incoming(index)]
            size = max((total.statistics.rms for total in totals if total is not None), default=0.0)
            if size > 0 and len(node.output_shape or ()) > 1:
                sizes[index] = size
        by_size = sorted(sizes, key=sizes.__getitem__)
        senders = session.graph.senders()
        users = {index: {*_users_of_leaf(session, index, senders)} for index in sizes}
        called = {index: names.of(engine.leaf(session.order[index])) for index in sizes}
        for index in {*by_size[:_ENDS], *by_size[-_ENDS:]}:
            links = main_way(session, index)
            on_way = {link.index for link in links}
            passed = {called[other] for other in sizes if users[other] & on_way}
            self.passed.setdefault(called[index], passed)
            ways = {down: _mostly(session, links, down=down) for down in (True, False)}
            self.by_leaf.setdefault(called[index], ways)


def _users_of_leaf(
    session: PassSession, index: int, senders: Mapping[int, Sequence[int]]
) -> Iterator[int]:
    """Yield the nodes in which a weight meets other values: not its transpose."""
    stack = [index]
    while stack:
        for node in senders.get(stack.pop(), ()):
            if node >= len(session.order):
                continue  # the seed
            if len(session.order[node].edges) > 1:
                yield node
            else:
                stack.append(node)


def _mostly(session: PassSession, links: Sequence[Link], *, down: bool) -> Way | None:
    """Return the op whose nodes, taken together, change the size of a gradient most."""
    graph = session.graph
    sums: dict[str, float] = {}
    places: dict[str, list[int]] = {}
    for link in links:
        if link.factor > 0:
            stem = graph.stem(link.index)
            sums[stem] = sums.get(stem, 0.0) + math.log(link.factor)
            places.setdefault(stem, []).append(link.index)
    if not sums:
        return None
    stem = min(sums, key=sums.__getitem__) if down else max(sums, key=sums.__getitem__)
    at = places[stem]
    source = next((graph.sources[index] for index in at if index in graph.sources), None)
    return Way(stem, graph.address(at[0]), len(at), math.exp(sums[stem]), source)


class Change(NamedTuple):
    """The sizes of the gradients of two leaves, of which one is ``factor`` times the other."""

    factor: float
    near: str
    near_size: float
    end: str
    end_size: float


class Proportion(NamedTuple):
    """The size of the largest gradient, of a leaf, and as a multiple of that of the leaf."""

    leaf: str
    size: float
    share: float


@dataclass(frozen=True)
class Vanishing(Reason):
    """Gradients become small on their way."""

    code = "vanishing"
    is_effect = True
    sizes: Change | Proportion
    way: Way | None

    @property
    def is_cause(self) -> bool:
        return self.way is not None

    def text(self) -> str:
        is_vanishing = self.code == "vanishing"
        match self.sizes:
            case Change(factor, near, near_size, end, end_size):
                what = (
                    f"the gradient {'shrinks' if is_vanishing else 'grows'} by a factor of "
                    f"{format_number(factor)} from {near} ({format_number(near_size)}) to {end} "
                    f"({format_number(end_size)})"
                )
            case Proportion(leaf, size, share):
                what = (
                    f"the largest gradient, that of {leaf}, is {format_number(size)}, "
                    f"{format_number(share)} times the size of {leaf}"
                )
        mostly = ""
        if self.way is not None:
            op, address, count, factor, _ = self.way
            nodes = address if count == 1 else f"{count} nodes {op}"
            mostly = f"; most of it in {nodes} (x {format_number(factor)})"
        return f"gradients {'vanish' if is_vanishing else 'explode'}: {what}{mostly}"

    def remedy(self) -> str:
        if self.way is not None and self.way.op in ("sigmoid", "tanh"):
            return "use relu instead of sigmoid, a normalization, or skip connections"
        return "use a normalization, skip connections, or an initialization that keeps the size"

    def calls(self) -> tuple[str, ...]:
        return (self.way.op,) if self.way is not None and self.way.nodes == 1 else ()


@dataclass(frozen=True)
class Exploding(Vanishing):
    """Gradients become large on their way."""

    code = "exploding"
    is_effect = True
    explained_by = ("input-scale", "target-scale")


def gradient_sizes(facts: Facts) -> Iterator[Reason]:
    """Yield, of each line, the gradients of its first call that are a hundred thousand times larger
    or smaller than others of it, or out of proportion to their weights."""
    by_call: dict[int, list[tuple[History, Seen]]] = {}
    for history in histories(facts.run):
        for line in history.lines:
            first = next(seen for seen in history.seen if seen.call.line == line)
            if len(history.leaf.shape or ()) > 1 and first.gradient:
                by_call.setdefault(first.call.index, []).append((history, first))
    for weights in by_call.values():
        yield from _of_call(facts, weights)


def _of_call(facts: Facts, weights: list[tuple[History, Seen]]) -> Iterator[Reason]:
    def size(weight: tuple[History, Seen]) -> float:
        return weight[1].gradient or 0.0

    def share(weight: tuple[History, Seen]) -> float:
        return size(weight) / (weight[1].facts.parameter_rms or size(weight))

    by_size = sorted(weights, key=size)
    largest = by_size[-1]
    for end in (
        [] if facts.run.training.scalers else [*by_size[:_ENDS], *by_size[: -_ENDS - 1 : -1]]
    ):
        passed, own = _passed(facts, end, weights), math.log(size(end))
        near = max(passed, key=lambda one: abs(math.log(size(one)) - own))
        is_far = size(near) > size(end)
        behind = [size(one) for one in weights if _place(facts, one[0]) > _place(facts, end[0])]
        # of a weight beside the way, as the key of an attention, what lies behind it has more
        is_aside = is_far and any(value > _ASIDE * size(end) for value in behind)
        factor = max(size(near) / size(end), size(end) / size(near))
        if factor > facts.thresholds.gradient_ratio and not is_aside:
            change = Change(factor, near[0].leaf.name, size(near), end[0].leaf.name, size(end))
            yield _reason(facts, end, change, is_far)
            return
    if min(map(share, weights)) > _HUGE or max(map(share, weights)) < _TINY:
        proportion = Proportion(largest[0].leaf.name, size(largest), share(largest))
        reason = _reason(facts, largest, proportion, not min(map(share, weights)) > _HUGE)
        yield replace(reason, is_note=all(_is_steady(weight[0]) for weight in weights))


def _is_steady(history: History) -> bool:
    """Return whether steps change a weight, and none by much: the optimizer divides by the size of
    gradients, as Adam does."""
    moved = [seen.moved for seen in history.seen if seen.moved is not None]
    return len(moved) >= _STEPS and max(moved) < _MUCH and median(moved) > _LITTLE


def _passed(
    facts: Facts, end: tuple[History, Seen], weights: Sequence[tuple[History, Seen]]
) -> list[tuple[History, Seen]]:
    """Return the weights that the gradient of one passes, and that one itself; in a recording,
    which does not tell, those that are nearer to the loss."""
    passed = facts[Ways].passed
    place = _place(facts, end[0])
    return [
        one
        for one in weights
        if one is end
        or (
            one[0].leaf.name in passed.get(end[0].leaf.name, ())
            if passed
            else _place(facts, one[0]) < place
        )
    ]


def _place(facts: Facts, history: History) -> int:
    """Return a number that is larger the farther a leaf is from the loss; in a recording, leaves
    stand in the order in which the program made them."""
    return facts[Ways].places.get(history.leaf.name, -history.leaf.number)


def _reason(
    facts: Facts, end: tuple[History, Seen], sizes: Change | Proportion, is_vanishing: bool
) -> Reason:
    way = facts[Ways].by_leaf.get(end[0].leaf.name, {}).get(is_vanishing)
    kind = Vanishing if is_vanishing else Exploding
    source = (way and way.source) or end[1].call.line
    return kind(sizes, way, leaves=(end[0].leaf.name,), source=source)


RULES: Final = (
    Rule(gradient_sizes, Meaning(
        "vanishing", "warning", "gradients vanish on their way from the loss",
        "In the first call on a line, the gradient of one weight is 100,000 times smaller than "
        "that of another nearer to the loss, or all are below 1e-12 of their weights.",
        "nn.Sequential(nn.Linear(8, 8), nn.Sigmoid(), ...)",
        "nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU(), ...)",
        "When those layers should hardly learn.",
    ), Meaning(
        "exploding", "warning", "gradients explode on their way from the loss",
        "In the first call on a line, a gradient grows 100,000 times, or all gradients are more "
        "than a million times larger than their weights.",
        "w = torch.randn(10, 10) * 30", "w = torch.randn(10, 10) / 10**0.5",
        "When the gradients are clipped, and the loss falls.",
    ), uses=(Ways,)),
)  # fmt: skip
