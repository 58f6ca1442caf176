"""Parameters and optimizers that the program makes anew for each call."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from linecache import getline
from math import prod
from typing import Any, Final
from weakref import WeakSet

from gradstep.findings.facts import Fact, Facts, Objects
from gradstep.findings.facts.history import Seen, histories
from gradstep.findings.facts.learning import Uses
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import with_operation
from gradstep.findings.source_lines import assigned, modules_made_around
from gradstep.recording.leaves import COPIED
from gradstep.recording.look import Look

_OF_A_VALUE: Final = re.compile(r"Parameter\((?!torch\.(zeros|ones|rand|empty|full|tensor))")
_CALLS: Final = 3
_OPTIMIZERS: Final = 5


class Optimizers(Fact):
    """How many optimizers a name had; those that take turns, as arguments do, count once each."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.looks = 0
        self._known: defaultdict[str, WeakSet[Any]] = defaultdict(WeakSet)

    def closely(self, look: Look) -> None:
        self.looks += 1
        for name, optimizer in look.names.optimizers.items():
            if optimizer not in self._known[name]:
                self._known[name].add(optimizer)
                self.counts[name] += 1


@dataclass(frozen=True)
class NewParameters(Reason):
    """So many parameters, or more, are made anew for each call; ``is_copy`` if of a value."""

    keeps_loss = False
    code = "made-anew"
    count: int
    shapes: tuple[tuple[int, ...], ...]
    times: int
    is_copy: bool

    def text(self) -> str:
        shapes = ", ".join(str(list(shape)) for shape in self.shapes)
        return (
            f"{'a parameter' if self.count == 1 else 'parameters'} of shape {shapes} "
            f"{'is' if self.count == 1 else 'are'} created again for each of {self.times:,} calls: "
            "what is learned there is lost, and no optimizer has it"
        )

    def remedy(self) -> str:
        if self.fix():
            return (
                "use the value itself: nn.Parameter() makes a new leaf, through which no gradient "
                "flows back"
            )
        return (
            "make them once, in __init__, as attributes of the module; then parameters() has them"
        )

    def fix(self) -> tuple[Fix, ...]:
        return with_operation(self.source, "Parameter", "{0}") if self.is_copy else ()


@dataclass(frozen=True)
class NewOptimizer(Reason):
    """An optimizer is made anew for each call."""

    code = "made-anew"
    name: str

    def text(self) -> str:
        return (
            f"{self.name} is created again for each call: its averages of earlier gradients, and "
            "its count of steps, begin at 0 each time"
        )

    def remedy(self) -> str:
        return f"make {self.name} once, before the loop"


def new_parameters(facts: Facts) -> Iterator[Reason]:
    """Yield parameters that are another object in each of three calls or more, and that no
    optimizer has, while it has others of these calls: what they learn is lost."""
    every = list(histories(facts.run))
    if 8 * sum(prod(leaf.shape or ()) for leaf in facts.run.leaves) > COPIED:
        return  # of so many, some are not followed
    kept = {seen.call.index for one in every if one.seen[-1].facts.optimizer for seen in one.seen}
    new = [
        history
        for history in every
        if history.leaf.is_parameter
        and len(history.seen) >= _CALLS
        and {seen.call.index for seen in history.seen} <= kept
        and all(map(_is_new, history.seen))
    ]
    if not new:
        return
    uses = facts[Uses].lines
    used = uses.get(new[0].leaf.name) or uses.get("") or new[0].seen[0].call.line
    made = [] if used is None else modules_made_around(used)
    shapes = tuple(dict.fromkeys(tuple(history.leaf.shape or ()) for history in new))
    is_copy = bool(made) and _OF_A_VALUE.search(getline(*made[0])) is not None
    yield NewParameters(
        len(new), shapes, len(new[0].seen), is_copy, source=made[0] if made else used,
        other=used if made and used != made[0] else None,
    )  # fmt: skip


def _is_new(seen: Seen) -> bool:
    """Return whether a call found a leaf that nothing has held before."""
    leaf = seen.facts
    return leaf.optimizer == "" and leaf.update_rms is None and leaf.before is None


def new_optimizers(facts: Facts) -> Iterator[Reason]:
    """Yield optimizers that are another object in two of three calls, or more, though their leaves
    stay: what they know of earlier gradients is lost."""
    followed = {
        history.seen[-1].facts.optimizer
        for history in histories(facts.run)
        if any(before.facts.update_rms and after.facts.update_rms
               for before, after in history.pairs)
    }  # fmt: skip
    line = facts.line
    for name, count in facts[Optimizers].counts.items():
        groups = [group for held, group, _ in facts.names.trained() if held == name]
        learns = any(group.get("momentum") or "betas" in group for group in groups)
        is_often = count >= _OPTIMIZERS and 3 * count >= 2 * facts[Optimizers].looks
        if not (is_often and learns and name in followed):
            continue
        made = [at for at in (assigned(name, line.file) if line else []) if "(" in getline(*at)]
        yield NewOptimizer(name, source=made[0] if made else line)


RULES: Final = (
    Rule(new_parameters, Meaning(
        "made-anew", "warning", "parameters, or an optimizer, are created again for each call",
        "The same line makes another object each time, so the parameters forget, and the "
        "optimizer loses its averages of earlier gradients.",
        "def forward(self, x):\n    return nn.Linear(8, 2)(x)",
        "def forward(self, x):\n    return self.head(x)",
        "When each call should start from scratch.",
    ), uses=(Uses,)),
    Rule(new_optimizers, needs=(Objects, Optimizers), code="made-anew"),
)  # fmt: skip
