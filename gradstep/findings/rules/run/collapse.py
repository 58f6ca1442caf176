"""Weights that all become small: something pulls them to 0 harder than the loss moves them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from linecache import getlines
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.history import History
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import example, with_argument
from gradstep.findings.rules.run.step_sizes import by_optimizer
from gradstep.findings.source_lines import assigned
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.recording.facts import ParameterGroup

_CALLS: Final = 20
_LEFT: Final = 0.1
_USUAL: Final = 1e-2
"""A weight decay that is not the reason."""
_SHARE: Final = 0.01
"""Of a weight, what a step takes at least that forgets."""
_SHRINKING: Final = ("SGD", "AdamW", "Lion")
"""Optimizers whose decay multiplies weights; that of others is a part of their gradients."""
_PENALTY: Final = re.compile(r"\bfor [\w, ]+ in [\w.]*parameters\(\)")


@dataclass(frozen=True)
class Collapsed(Reason):
    """All weights of an optimizer, of a ``kind``, have ``left`` of their size: its weight ``decay``
    pulls, or, where that is None, a term of the loss."""

    keeps_loss = False
    code = "collapse"
    optimizer: str
    left: float
    decay: float | None
    kind: str

    def text(self) -> str:
        by = (
            "a term of the loss, as a penalty for large weights," if self.decay is None else
            f"its weight decay of {format_number(self.decay)}"
        )  # fmt: skip
        return (
            f"all weights of {self.optimizer} have shrunk to {format_number(self.left)} of their "
            f"size or less: {by} is stronger than everything else that moves them"
        )

    def remedy(self) -> str:
        if self.decay is None:
            return "multiply that term by a small number, such as 1e-4"
        return "use less weight decay: 1e-4 is usual"

    def fix(self) -> tuple[Fix, ...]:
        if self.decay is None:
            return ()
        return example(with_argument(self.source, self.kind, "weight_decay", "1e-4"))


@dataclass(frozen=True)
class Decayed(Reason):
    """Each step of an optimizer, of a ``kind``, takes the share ``rate`` times ``decay`` of each
    weight."""

    keeps_loss = False
    code = "collapse"
    optimizer: str
    kind: str
    rate: float
    decay: float

    def text(self) -> str:
        share = format_number(100 * self.rate * self.decay)
        return (
            f"each step of {self.optimizer} takes {share} % of each weight, its learning rate of "
            f"{format_number(self.rate)} times its weight decay of {format_number(self.decay)}: "
            "the effect of earlier gradients is soon lost"
        )

    def remedy(self) -> str:
        return "use less weight decay: 1e-4 is usual, and 0.01 of AdamW"

    def fix(self) -> tuple[Fix, ...]:
        return example(with_argument(self.source, self.kind, "weight_decay", "1e-4"))


def collapse(facts: Facts) -> Iterator[Reason]:
    """Yield optimizers whose every weight has become ten times smaller, or more."""
    for name, weights in by_optimizer(facts).items():
        left = max(map(_left, weights))
        line = weights[0].seen[0].call.line
        groups = [group for group in facts.run.training.groups if group.optimizer == name]
        names = tuple(weight.leaf.name for weight in weights)
        if left > _LEFT:
            yield from _decayed(groups, [one for one in weights if len(one.seen) >= _CALLS], line)
            continue
        decay = max((group.options.get("weight_decay", 0.0) for group in groups), default=0.0)
        pulls = decay > _USUAL
        if not (pulls or (line is not None and _PENALTY.search("".join(getlines(line.file))))):
            continue  # nothing but the data may ask for small weights
        at = assigned(name if pulls else "loss", line.file) if line is not None else []
        yield Collapsed(
            name, left, decay if pulls else None, groups[0].kind if groups else "",
            leaves=names, source=at[0] if at else line,
        )  # fmt: skip


def _decayed(
    groups: Sequence[ParameterGroup], weights: Sequence[History], line: Source | None
) -> Iterator[Reason]:
    """Yield the groups of an optimizer which takes a share of each weight, whatever its gradient
    is, that is large for one step."""
    for group in groups:
        rate, decay = group.options.get("lr", 0.0), group.options.get("weight_decay", 0.0)
        names = tuple(one.leaf.name for one in weights if one.leaf.number in group.leaves)
        if group.kind in _SHRINKING and rate * decay >= _SHARE and names:
            at = assigned(group.optimizer, line.file) if line is not None else []
            yield Decayed(
                group.optimizer, group.kind, rate, decay, leaves=names,
                source=at[0] if at else line,
            )  # fmt: skip
            return


def _left(history: History) -> float:
    """Return the size of a weight at the end, as a share of that at the start."""
    first, last = history.seen[0].facts.parameter_rms, history.seen[-1].facts.parameter_rms
    return last / first if first and last is not None and len(history.seen) >= _CALLS else 1.0


RULES: Final = (
    Rule(collapse, Meaning(
        "collapse", "warning", "weights are pulled to 0",
        "This holds for every weight of an optimizer, over at least 20 calls; "
        "or weight decay takes at least a hundredth of each weight in each step.",
        "torch.optim.Adam(net.parameters(), weight_decay=1.0)",
        "torch.optim.Adam(net.parameters(), weight_decay=1e-4)",
        "When weights should go to 0, as in pruning.",
    )),
)  # fmt: skip
