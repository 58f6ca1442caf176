"""Losses that are the same to the bit although leaves had gradients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.history import lines_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.statistics import format_number
from gradstep.recording.facts import LeafFacts

_SAME: Final = 5
"""Calls in a row with the same loss."""


@dataclass(frozen=True)
class ConstantLoss(Reason):
    """The loss has been the same in calls in a row."""

    code = "constant-loss"
    after = ("vanishing",)
    explained_by = (
        "cut", "unreached", "untrained", "unchanged", "zero-grad", "small-steps", "stale-grad",
    )  # fmt: skip
    helps = (
        "make sure that step() changes the leaves that the loss depends on, and that every "
        "call computes a new loss"
    )
    loss: float

    @property
    def is_cause(self) -> bool:
        return False

    def text(self) -> str:
        return (
            f"the loss has been exactly {format_number(self.loss)} in {_SAME} consecutive calls, "
            "although leaves had gradients"
        )


def constant_loss(facts: Facts) -> Iterator[Reason]:
    """Yield lines of which five calls in a row had exactly the same loss, though gradients that
    were not 0, and none later had another one; not those whose gradients were not finite, after
    which a step may be skipped. A net whose outputs are steps begins to learn after a while."""
    for line, calls in lines_of(facts.run):
        before, count, last = None, 0, None
        leaves: Sequence[LeafFacts] = ()  # of the call before that was described
        for call in calls:
            if call.is_troubled or call.loss is None:
                before, count = None, 0
                continue
            leaves = facts.run.of_leaves(call.index) or leaves
            count = count + 1 if call.loss == before else 1
            before = call.loss
            if count == 1:
                last = None
            elif count == _SAME and any(
                leaf.arrived and leaf.after is not None and leaf.after.rms > 0 for leaf in leaves
            ):
                last = call.loss
        if last is not None:
            yield ConstantLoss(last, source=line)


RULES: Final = (
    Rule(constant_loss, Meaning(
        "constant-loss", "warning", "the loss is exactly the same in five calls",
        "There were gradients, and they changed nothing that the loss depends on.",
        "loss = criterion(old_output, y)", "loss = criterion(net(x), y)",
        "When it only counts something, and nothing should learn from it.",
    )),
)  # fmt: skip
