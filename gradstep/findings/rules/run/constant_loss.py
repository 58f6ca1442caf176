"""Losses that are the same to the bit although leaves had gradients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.whole_run.watch import Evidence, lines_of
from gradstep.graph.statistics import format_number

_SAME: Final = 5
"""Calls in a row with the same loss."""


def constant_loss(evidence: Evidence) -> Iterator[Finding]:
    """Yield lines of which five calls in a row had exactly the same loss, though gradients that
    were not 0; not those whose gradients were not finite, after which a step may be skipped."""
    for line, calls in lines_of(evidence.run):
        before, count = None, 0
        for call in calls:
            if call.is_troubled or call.loss is None:
                before, count = None, 0
                continue
            count = count + 1 if call.loss == before else 1
            before = call.loss
            if count == _SAME and any(
                leaf.arrived and leaf.after is not None and leaf.after.rms > 0
                for leaf in evidence.run.of_leaves(call.index)
            ):
                yield Finding(
                    "warning", "constant-loss",
                    f"the loss has been exactly {format_number(call.loss)} in {_SAME} consecutive "
                    "calls, although leaves had gradients",
                    "make sure that step() changes the leaves that the loss depends on, and that "
                    "every call computes a new loss",
                    source=line,
                )  # fmt: skip
                break


RULES: Final = (
    Rule(constant_loss, Meaning(
        "constant-loss", "warning", "the loss is the same to the bit in five calls",
        "There were gradients, and they changed nothing that the loss depends on.",
        "loss = criterion(old_output, y)", "loss = criterion(net(x), y)",
    )),
)  # fmt: skip
