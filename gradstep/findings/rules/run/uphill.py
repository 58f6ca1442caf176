"""Steps that go up the gradient, so that the loss rises."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite, sqrt
from statistics import median
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstep.capturing.statement import tree_of
from gradstep.contract.events import Stepped
from gradstep.findings.facts import Fact, Facts, Numbers, Objects
from gradstep.findings.facts.happened import Happened
from gradstep.findings.facts.history import lines_of
from gradstep.findings.facts.program import Files, functions_of, name_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.recording.look import Look

Array = NDArray[np.float64]
_MOST: Final = 4096
_LEAVES: Final = 6
_STEPS: Final = 5
_ALONG: Final = 0.3
_MOST_STEPS: Final = 0.8


class Before(NamedTuple):
    """A leaf behind a call: what it was, and its gradient."""

    leaf: Any
    value: Array
    gradient: Array


class Ways(Fact):
    """How far steps go along the gradients of leaves: the cosine of both, by the line of the call,
    in calls in a row that are looked at closely."""

    needs = (Objects, Numbers)

    def __init__(self) -> None:
        self.cosines: dict[Source | None, list[float]] = {}
        self._known: tuple[int, Source | None, list[Before]] | None = None
        self._trained: set[int] = set()

    def before(self, look: Look) -> None:
        known, self._known = self._known, None
        if known is None or look.engine.numbers is None:
            return
        index, line, leaves = known
        if index + 1 != look.facts.index or line != look.line:
            return
        along, ways, slopes = 0.0, 0.0, 0.0
        with np.errstate(all="ignore"):
            for before in leaves:
                now = look.engine.numbers.array(before.leaf)
                if now is not None and now.shape == before.value.shape:
                    change = np.asarray(now, np.float64) - before.value
                    along += float((change * before.gradient).sum())
                    ways += float(np.square(change).sum())
                    slopes += float(np.square(before.gradient).sum())
        if isfinite(size := ways * slopes) and size > 0:
            self.cosines.setdefault(line, []).append(along / sqrt(size))

    def closely(self, look: Look) -> None:
        for _, group, leaves in look.names.trained():
            if not group.get("maximize"):
                self._trained.update(leaves)

    def after(self, look: Look) -> None:
        numbers = look.engine.numbers
        if not look.order or look.call.is_grad or numbers is None:
            return
        leaves = []
        for leaf in look.reached:
            if id(leaf) not in self._trained or leaf.grad is None or leaf.numel() > _MOST:
                continue
            value, gradient = numbers.array(leaf), numbers.array(leaf.grad)
            if value is not None and gradient is not None and value.shape == gradient.shape:
                leaves.append(
                    Before(leaf, np.array(value, np.float64), np.array(gradient, np.float64))
                )
            if len(leaves) == _LEAVES:
                break
        self._known = (look.facts.index, look.line, leaves) if leaves else None


@dataclass(frozen=True)
class Uphill(Reason):
    """Each step moves leaves along their gradients, and the loss rises."""

    code = "uphill"
    other_is = "steps at"
    first: float = field(compare=False)
    last: float = field(compare=False)

    def text(self) -> str:
        first, last = format_number(self.first), format_number(self.last)
        return (
            f"each step moves the leaves along their gradients, up the loss, which rises from "
            f"{first} to {last}: a step down subtracts the gradient"
        )

    def remedy(self) -> str:
        return "change the sign of the step: p.add_(update, alpha=-lr)"


def uphill(facts: Facts) -> Iterator[Reason]:
    """Yield lines whose leaves all move along their gradients while the loss rises."""
    ways = facts[Ways]
    losses = {
        line: [c.loss for c in calls if c.loss is not None] for line, calls in lines_of(facts.run)
    }
    for line, cosines in ways.cosines.items():
        known = losses.get(line, [])
        if min(len(cosines), len(known)) < _STEPS or median(cosines) < _ALONG:
            continue
        if sum(each > 0 for each in cosines) < _MOST_STEPS * len(cosines):
            continue
        first, last = float(np.mean(known[:2])), float(np.mean(known[-2:]))
        if last > first:
            stepped = facts[Happened].of(Stepped)
            at = stepped[0].source if stepped else None
            yield Uphill(first, last, source=_own_step(facts) or at or line, other=at)


def _own_step(facts: Facts) -> Source | None:
    """Return the line of a ``step()`` of the program that adds to a tensor last."""
    lines = [
        Source(file, node.lineno)
        for file in facts[Files].names
        for defined in functions_of(tree_of(file))
        if defined.node.name == "step"
        for node in ast.walk(defined.node)
        if isinstance(node, ast.Call) and name_of(node.func) in ("add_", "addcdiv_", "sub_")
    ]
    return max(lines, default=None)


RULES: Final = (
    Rule(uphill, Meaning(
        "uphill", "warning", "steps go up the gradient",
        "In 80% of the calls in a row that check looked at (at least five), leaves of an optimizer "
        "move along their gradients, and the loss is larger at the end.",
        "p.add_(p.grad, alpha=lr)", "p.add_(p.grad, alpha=-lr)",
        "When the loss should become larger.",
    ), needs=(Objects, Ways), uses=(Happened, Files)),
)  # fmt: skip
