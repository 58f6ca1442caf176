"""Gradients that vanish or explode on their way through the graph, in the first call of a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.whole_run.history import History, Seen, histories
from gradstep.findings.whole_run.watch import Evidence
from gradstep.graph.statistics import format_number

_ASIDE: Final = 100.0
"""Times as large, and the gradient does not vanish on the way to there."""
_APART: Final = 1e5
"""By which the gradients of two weights of one call may differ."""
_HUGE: Final = 1e6
_TINY: Final = 1e-12
"""Of the size of a weight: with the usual learning rates, one step destroys it, or changes none of
its digits."""


def gradient_sizes(evidence: Evidence) -> Iterator[Finding]:
    """Yield, of each line, the gradients of its first call that are a hundred thousand times larger
    or smaller than others of it, or out of proportion to their weights."""
    by_call: dict[int, list[tuple[History, Seen]]] = {}
    for history in histories(evidence.run):
        for line in history.lines:
            first = next(seen for seen in history.seen if seen.call.line == line)
            if len(history.leaf.shape or ()) > 1 and first.gradient:
                by_call.setdefault(first.call.index, []).append((history, first))
    for weights in by_call.values():
        yield from _of_call(evidence, weights)


def _of_call(evidence: Evidence, weights: list[tuple[History, Seen]]) -> Iterator[Finding]:
    def size(weight: tuple[History, Seen]) -> float:
        return weight[1].gradient or 0.0

    def share(weight: tuple[History, Seen]) -> float:
        return size(weight) / (weight[1].facts.parameter_rms or size(weight))

    smallest, largest = min(weights, key=size), max(weights, key=size)
    place = _place(evidence, smallest[0])
    is_far = place > _place(evidence, largest[0])
    behind = [size(weight) for weight in weights if _place(evidence, weight[0]) > place]
    # of a weight beside the way, as the key of an attention, what lies behind it has more
    is_aside = is_far and any(value > _ASIDE * size(smallest) for value in behind)
    if size(largest) > _APART * size(smallest) and not (is_aside or evidence.names.scalers):
        near, end = (largest, smallest) if is_far else (smallest, largest)
        factor = format_number(size(largest) / size(smallest))
        yield _finding(
            evidence, end, "vanishing" if is_far else "exploding",
            f"the gradient {'shrinks' if is_far else 'grows'} by a factor of {factor} from "
            f"{near[0].leaf.name} ({format_number(size(near))}) to {end[0].leaf.name} "
            f"({format_number(size(end))})",
        )  # fmt: skip
        return
    if min(map(share, weights)) > _HUGE or max(map(share, weights)) < _TINY:
        code = "exploding" if share(smallest) > _HUGE else "vanishing"
        yield _finding(
            evidence, largest, code,
            f"the largest gradient, that of {largest[0].leaf.name}, is "
            f"{format_number(size(largest))}, {format_number(share(largest))} times the size of "
            "the weight",
        )  # fmt: skip


def _place(evidence: Evidence, history: History) -> int:
    """Return a number that is larger the farther a leaf is from the loss; in a recording, leaves
    stand in the order in which the program made them."""
    return evidence.places.get(history.leaf.name, -history.leaf.number)


def _finding(evidence: Evidence, end: tuple[History, Seen], code: str, what: str) -> Finding:
    way = evidence.ways.get(end[0].leaf.name)
    mostly = "" if way is None else f"; most of it in {way.what}"
    title = "vanish" if code == "vanishing" else "explode"
    sigmoid = way is not None and any(word in way.what for word in ("sigmoid", "tanh"))
    return Finding(
        "warning", code,
        f"gradients {title}: {what}{mostly}",
        "use relu instead of sigmoid, a normalization, or skip connections" if sigmoid else
        "use a normalization, skip connections, or an initialization that keeps the size",
        source=(way and way.source) or end[1].call.line, leaves=(end[0].leaf.name,),
    )  # fmt: skip


RULES: Final = (
    Rule(gradient_sizes, Meaning(
        "vanishing", "warning", "gradients vanish on their way from the loss",
        "In the first call on a line, the gradient of one weight is 100,000 times smaller than "
        "that of another nearer to the loss, or all are below 1e-12 of their weights.",
        "nn.Sequential(nn.Linear(8, 8), nn.Sigmoid(), ...)",
        "nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8), nn.ReLU(), ...)",
    ), Meaning(
        "exploding", "warning", "gradients explode on their way from the loss",
        "In the first call on a line, a gradient grows 100,000 times, or all gradients are more "
        "than a million times larger than their weights.",
        "w = torch.randn(10, 10) * 30", "w = torch.randn(10, 10) / 10**0.5",
    )),
)  # fmt: skip
