"""Calls with NaN or infinite losses or gradients, where only facts tell of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gradstep.findings.finding import Finding, Rule
from gradstep.findings.whole_run.watch import Evidence
from gradstep.graph.statistics import format_number
from gradstep.text import listed


def not_finite(evidence: Evidence) -> Iterator[Finding]:
    """Yield the first call of a recording that has such a loss, or leaves such a ``.grad``; of a
    run that was watched, the findings of that call tell more."""
    if evidence.looked_at:
        return
    run = evidence.run
    call = next((call for call in run.calls() if call.is_troubled), None)
    if call is None:
        return
    bad = [leaf for leaf in run.of_leaves(call.index) if leaf.is_troubled]
    names = [run.leaves[facts.leaf].name for facts in bad]
    kinds = {facts.after.trouble for facts in bad if facts.after is not None}
    loss = "" if call.loss is None else f"the loss is {format_number(call.loss)}"
    grads = f"the .grad of {listed(names)} is {' or '.join(sorted(kinds))}" if names else ""
    what = ", and ".join(filter(None, (loss, grads))) or "a gradient is NaN or infinite"
    yield Finding(
        "warning", "not-finite", f"in {call.title}, {what}",
        f"gradstep why TARGET {names[0]} shows where it began" if names else
        "look at what this loss is computed from", source=call.line, leaves=tuple(names),
    )  # fmt: skip


def skipped(evidence: Evidence) -> Iterator[Finding]:
    """Yield that no call with a scaled loss had finite gradients."""
    count = len(evidence.skipped)
    is_told = any(finding.code == "not-finite" and finding.is_bad for _, finding in evidence.seen)
    if count < 2 or not all(evidence.skipped) or is_told:
        return
    yield Finding(
        "warning", "not-finite",
        f"the gradients were not finite in any of the {count} calls with a scaled loss: every step "
        "was skipped, and nothing was learned",
        "run more steps, as the factor shrinks with each; if it goes on, gradstep check without "
        "the scaler finds what is not finite",
        source=next(iter(evidence.run.calls())).line,
    )  # fmt: skip


RULES: Final = (Rule(skipped), Rule(not_finite))
