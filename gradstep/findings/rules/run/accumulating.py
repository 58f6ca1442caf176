"""Gradients that are cleared too late, after a step used them, or too early, before one does."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.fixes import Line
from gradstep.findings.source_lines import calls_of
from gradstep.findings.whole_run.history import History, Seen, histories
from gradstep.findings.whole_run.watch import Evidence
from gradstep.text import listed

_TIMES = 2
_STEPS = 4


def accumulating(evidence: Evidence) -> Iterator[Finding]:
    """Yield the leaves that changed twice or more between two calls while their ``.grad`` stayed as
    the first one left it: step() ran, and zero_grad() did not. Between calls on two lines this is
    a mistake only if nothing clears it later."""
    stale = [
        history
        for history in histories(evidence.run)
        if _used_again(history) >= _TIMES or _is_never_cleared(history)
    ]
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
        and before.call.line == after.call.line
        and _is_kept(before, after)
        for before, after in pairwise(history.seen)
    )


def _is_never_cleared(history: History) -> bool:
    changes = sum(bool(seen.facts.update_rms) for seen in history.seen)
    return changes > _TIMES and all(
        _is_kept(before, after) for before, after in pairwise(history.seen)
    )


def _is_kept(before: Seen, after: Seen) -> bool:
    """Return whether a call found the ``.grad`` that another one left."""
    return (
        after.facts.before_checksum is not None
        and not after.is_fresh
        and after.facts.before_checksum == before.facts.after_checksum
    )


def discarded(evidence: Evidence) -> Iterator[Finding]:
    """Yield the leaves of which each step uses the gradient of one call, and those of the calls
    before were cleared, of as many each time: they were meant to be accumulated. A step that only
    runs on a condition is meant to throw some away."""
    lost = [(history, count) for history in histories(evidence.run) if (count := _lost(history))]
    if not lost:
        return
    (first, count), names = lost[0], tuple(history.leaf.name for history, _ in lost)
    line, optimizer = first.seen[0].call.line, first.seen[-1].facts.optimizer or "optimizer"
    clears = calls_of("zero_grad", line.file) if line is not None else []
    yield Finding(
        "warning", "discarded",
        f"each step uses the gradient of one call, and {count} of {count + 1} are cleared before "
        f"a step uses them: those of {listed(names)}",
        f"to accumulate gradients, call zero_grad() only after {optimizer}.step()",
        source=clears[0] if clears else line, other=line if clears else None, leaves=names,
    )  # fmt: skip


def _lost(history: History) -> int:
    """Return how many gradients are lost before each step, 0 where the number varies."""
    counts, count = [], 0
    for before, after in pairwise(history.seen):
        if before.call.line != after.call.line or not after.is_fresh or before.is_zero:
            return 0
        if after.facts.update_rms != 0:
            counts.append(count)
        count = 0 if after.facts.update_rms != 0 else count + 1
    return counts[0] if len(counts) >= _STEPS and len({*counts}) == 1 else 0


RULES: Final = (
    Rule(accumulating, Meaning(
        "stale-grad", "warning", "a gradient is used in two steps",
        "A step used .grad, nothing cleared it, and the next call added to it.",
        "loss.backward()\nopt.step()", "opt.zero_grad()\nloss.backward()\nopt.step()",
        "Gradients that are accumulated and cleared after the step are right, and not reported.",
    )),
    Rule(discarded, Meaning(
        "discarded", "warning", "gradients are cleared before a step uses them",
        "Of four steps or more, each uses the gradient of one call, and those of as many calls "
        "before it were cleared.",
        "opt.zero_grad()\nloss.backward()\nif i % 4 == 3:\n    opt.step()",
        "loss.backward()\nif i % 4 == 3:\n    opt.step()\n    opt.zero_grad()",
    )),
)  # fmt: skip
