"""Gradients that a step has used and that are added to once more."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from gradstep.findings.fixes import Line
from gradstep.findings.linting.finding import Finding, Meaning, Rule
from gradstep.findings.source_lines import calls_of
from gradstep.findings.whole_run.history import History, histories
from gradstep.findings.whole_run.watch import Evidence
from gradstep.text import listed

_TIMES = 2


def accumulating(evidence: Evidence) -> Iterator[Finding]:
    """Yield the leaves that changed twice or more between two calls while their ``.grad`` stayed as
    the first one left it: step() ran, and zero_grad() did not."""
    stale = [history for history in histories(evidence.run) if _used_again(history) >= _TIMES]
    if not stale:
        return
    names = [history.leaf.name for history in stale]
    line = stale[0].seen[0].call.line
    optimizer = stale[0].seen[-1].facts.optimizer or "optimizer"
    cleared = calls_of("zero_grad", line.file) if line is not None else []
    yield Finding(
        "warning", "stale-grad",
        f"{listed(names)} {'has' if len(names) == 1 else 'have'} the .grad of earlier calls: "
        f"step() has used it, nothing cleared it, and each call adds to it, so that the sum of "
        "all gradients is used in every step",
        f"call {optimizer}.zero_grad() before this backward()",
        source=line, other=cleared[0] if cleared else None, leaves=tuple(names),
        fix=Line(line).replaced(f"{optimizer}.zero_grad()\n{{line}}"),
    )  # fmt: skip


def _used_again(history: History) -> int:
    return sum(
        bool(after.facts.update_rms)
        and after.facts.before_checksum is not None
        and not after.is_fresh
        and before.call.line == after.call.line
        and after.facts.before_checksum == before.facts.after_checksum
        for before, after in pairwise(history.seen)
    )


RULES: Final = (
    Rule(accumulating, Meaning(
        "stale-grad", "warning", "a gradient is used in two steps",
        "A step used .grad, nothing cleared it, and the next call added to it.",
        "loss.backward()\nopt.step()", "opt.zero_grad()\nloss.backward()\nopt.step()",
        "Gradients that are accumulated and cleared after the step are right, and not reported.",
    )),
)  # fmt: skip
