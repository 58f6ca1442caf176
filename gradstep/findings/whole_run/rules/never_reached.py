"""Leaves that an optimizer is to train and to which no call of the run came."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.findings.linting.finding import Finding, listed
from gradstep.findings.whole_run.source_lines import assigned
from gradstep.findings.whole_run.watch import Evidence


def never_reached(evidence: Evidence) -> Iterator[Finding]:
    """Yield what an optimizer has and never gets a gradient."""
    calls = list(evidence.run.calls())
    line = next((each.line for each in calls if each.line is not None), None)
    for optimizer, leaves in evidence.lost().items():
        names = [each.name for each in leaves]
        made = assigned(optimizer, line.file) if line is not None else []
        yield Finding(
            "warning", "unreached",
            f"{listed(names)} never {'gets' if len(names) == 1 else 'get'} a gradient: "
            f"{optimizer} is to train {'it' if len(names) == 1 else 'them'}, and none of the "
            f"{len(calls):,} calls came to {'it' if len(names) == 1 else 'them'}",
            f"use {'it' if len(names) == 1 else 'them'} in the loss after which "
            f"{optimizer}.step() runs, without detach() or no_grad() on the way",
            source=made[0] if made else line, leaves=tuple(names),
        )  # fmt: skip
