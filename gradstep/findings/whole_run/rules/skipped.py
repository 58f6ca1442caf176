"""Steps that a gradient scaler skips one and all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gradstep.findings.linting.finding import Finding
from gradstep.findings.linting.rule import Rule
from gradstep.findings.whole_run.watch import Evidence


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


RULES: Final = (Rule(skipped),)
