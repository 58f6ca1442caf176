"""Losses that do not fall, or fall without end."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.source_lines import assigned
from gradstep.findings.whole_run.watch import Evidence, lines_of
from gradstep.graph.statistics import format_number

_CALLS: Final = 100
"""Of one line, from which on a loss should have become smaller."""
_BELOW: Final = 100.0
"""Times the size of the first loss, and at least of 1, below 0."""


def loss_flat(evidence: Evidence) -> Iterator[Finding]:
    """Yield, as a note, that the mean of the loss over the last fifth of 100 calls or more is not
    smaller than over the first one; of programs with one optimizer and one loss."""
    lines = list(lines_of(evidence.run))
    if len(lines) != 1 or len(_optimizers(evidence)) != 1:
        return
    line, calls = lines[0]
    losses = [call.loss for call in calls if call.loss is not None]
    fifth = len(losses) // 5
    if len(losses) < _CALLS:
        return
    first, last = sum(losses[:fifth]) / fifth, sum(losses[-fifth:]) / fifth
    if last >= first:
        yield Finding(
            "info", "loss-flat",
            f"the loss was {format_number(first)} in the first {fifth} of {len(losses)} calls, and "
            f"{format_number(last)} in the last {fifth}: it does not fall",
            "try the program on one small batch, which it should be able to learn by heart; then "
            "another learning rate",
            source=line,
        )  # fmt: skip


def loss_falls(evidence: Evidence) -> Iterator[Finding]:
    """Yield losses that began near 0 and are far below it: a term has no lower limit."""
    for line, calls in lines_of(evidence.run):
        losses = [call.loss for call in calls if call.loss is not None and isfinite(call.loss)]
        if len(losses) < 5 or losses[-1] > -_BELOW * max(1.0, abs(losses[0])):
            continue
        term = evidence.lowest.get(line)
        name = "" if term is None else f", most of it by {term[0]}"
        made_at = [] if line is None else assigned("loss", line.file)
        yield Finding(
            "warning", "loss-falls",
            f"the loss fell from {format_number(losses[0])} to {format_number(losses[-1])}{name}: "
            "it has no lower limit, so a term may have the wrong sign",
            "check the signs of the terms: what is to become small is added, and a divergence is "
            "never negative",
            source=(term and term[1]) or (made_at[0] if made_at else line),
            other=made_at[0] if made_at else None,
        )  # fmt: skip


def _optimizers(evidence: Evidence) -> set[str]:
    return {
        facts.optimizer
        for call in evidence.run.indices
        for facts in evidence.run.of_leaves(call)
        if facts.optimizer
    }


RULES: Final = (
    Rule(loss_flat, Meaning(
        "loss-flat", "info", "the loss does not fall in 100 calls or more",
        "Of one line, in a program with one optimizer: the mean over the last fifth is not smaller "
        "than over the first.",
        "lr=10.0", "lr=0.01", "With losses that measure something else, as those of policies.",
    )),
    Rule(loss_falls, Meaning(
        "loss-falls", "warning", "the loss falls without end",
        "It is below 0 by 100 times its first size, and by 100 at least.",
        "kl = 0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()",
        "kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()",
        "With losses that have no lower limit on purpose, as a critic's.",
    )),
)  # fmt: skip
