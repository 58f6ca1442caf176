"""Leaves that have gradients and do not change."""

from __future__ import annotations

from collections.abc import Iterator
from linecache import getline
from typing import Final

from gradstep.findings.finding import Finding, Fix, Meaning, Rule
from gradstep.findings.fixes import Line
from gradstep.findings.rules.graph.unused import Hindrance, hindrance
from gradstep.findings.rules.run.step_sizes import of_schedule, slow_optimizers
from gradstep.findings.source_lines import assigned, calls_of, schedulers, steps_from_grad
from gradstep.findings.whole_run.history import History, histories
from gradstep.findings.whole_run.watch import Evidence
from gradstep.graph.model import Source
from gradstep.text import listed

_CALLS: Final = 3
"""Calls, the last ones, over which a leaf is to have been the same."""
_TIMES: Final = 2
"""Of the longest time for which it was the same before that."""
_NOISE: Final = 1e-6
"""Of the largest gradient: smaller ones are what rounding leaves of 0."""


def unchanged(evidence: Evidence) -> Iterator[Finding]:
    """Yield the leaves that the last three calls or more found as they were although gradients had
    come to them."""
    every = list(histories(evidence.run))
    largest = max((g for history in every for s in history.seen if (g := s.gradient)), default=0.0)
    trained = {held.name: held.leaf for held in evidence.trained.values()}
    by_cause: dict[Hindrance, list[History]] = {}
    slow = slow_optimizers(evidence)  # a finding of its own
    for history in every:
        if history.seen[-1].facts.optimizer in slow:
            continue
        if history.leaf.is_part:  # that may stay as it is where the whole does not
            continue
        if history.leaf.name in trained and _is_idle(history, _NOISE * largest):
            size = next((g for s in reversed(history.seen) if (g := s.gradient)), 1.0)
            cause = hindrance(evidence.names, trained[history.leaf.name], size)
            by_cause.setdefault(cause, []).append(history)
    if not evidence.names.optimizers and not trained:
        yield from _by_hand(every)
    for cause, alike in by_cause.items():
        names = [history.leaf.name for history in alike]
        line = alike[0].seen[-1].call.line
        fresh = all(seen.is_fresh for seen in alike[0].seen)
        has = "has" if len(names) == 1 else "have"
        optimizer = alike[0].seen[-1].facts.optimizer or ""
        what, remedy, fix, source = _said(cause, fresh, optimizer, line)
        since = len(alike[0].seen) - _still(alike[0])
        when = (
            "in the whole run" if since <= 1 else f"from call {alike[0].seen[since].call.number} on"
        )
        yield Finding(
            "warning", "unchanged",
            f"{listed(names)} {has} gradients and {has} not changed {when}: {what}",
            remedy, source=source or line, other=None if source is None else line,
            leaves=tuple(names), fix=fix,
        )  # fmt: skip


def _by_hand(every: list[History]) -> Iterator[Finding]:
    """Yield the leaves of a program without an optimizer that computes a step from their ``.grad``,
    and changes none of them."""
    every = [history for history in every if not history.leaf.is_part]
    idle = [history for history in every if _is_idle(history, 0.0)]
    lines = [history.seen[0].call.line for history in idle]
    if not idle or len(idle) < len(every) or lines[0] is None or len(idle[0].seen) < _CALLS:
        return
    steps = steps_from_grad(lines[0].file)
    if steps:
        names = [history.leaf.name for history in idle]
        one = len(names) == 1
        yield Finding(
            "warning", "unchanged",
            f"{listed(names)} {'has' if one else 'have'} gradients, and no call found "
            f"{'it' if one else 'them'} changed: line {steps[0].line} computes a step, and does "
            f"not write it into {'it' if one else 'them'}",
            f"change {'it' if one else 'them'} in place under no_grad(): "
            f"{names[0]}.sub_(lr * {names[0]}.grad)",
            source=steps[0], other=lines[0], leaves=tuple(names),
        )  # fmt: skip


def _said(
    cause: Hindrance, fresh: bool, optimizer: str, line: Source | None
) -> tuple[str, str, tuple[Fix, ...], Source | None]:
    """Return what is told of the cause, the remedy, in words and lines, and the line, as far as it
    is known."""
    if line is None:
        return cause.of(2), cause.remedy, (), None
    if cause.known:
        lines = assigned(optimizer, line.file)
        scheduled = schedulers(line.file) if "learning rate" in cause.what else []
        if scheduled:
            remedy, fix = of_schedule(scheduled[0])
            return cause.of(2), remedy, fix, fix[0].source if fix else scheduled[0]
        return cause.of(2), cause.remedy, (), lines[0] if lines else None
    steps = calls_of("step", line.file, optimizer)
    clears = calls_of("zero_grad", line.file)
    if not steps:
        return (
            f"{optimizer or 'the optimizer'}.step() does not run",
            f"call {optimizer or 'optimizer'}.step() after backward()",
            Line(line).replaced(f"{{line}}\n{optimizer or 'optimizer'}.step()"),
            None,
        )
    between = [at for at in clears if line.line < at.line < steps[-1].line]
    if fresh and between:
        return (
            f"zero_grad() in line {between[0].line} clears them before step()",
            "call zero_grad() before backward(), and step() after it",
            (
                *Line(line).replaced(f"{getline(*between[0]).strip()}\n{{line}}"),
                Fix(between[0], ""),
            ),
            between[0],
        )
    return cause.of(2), cause.remedy, (), None


def _still(history: History) -> int:
    """Return over how many of the last calls the leaf was the same."""
    count = 0
    for seen in reversed(history.seen):
        if seen.facts.update_rms != 0:
            break
        count += 1
    return count


def _longest(history: History) -> int:
    """Return over how many calls the leaf was the same at most, before it changed again."""
    longest = count = 0
    for seen in history.seen:
        if seen.facts.update_rms == 0:
            count += 1
        else:
            longest, count = max(longest, count), 0
    return longest


def _is_idle(history: History, noise: float) -> bool:
    last = history.seen[-_CALLS:]
    if _still(history) < _TIMES * _longest(history):
        return False  # as between the steps of one that accumulates gradients
    return (
        _still(history) >= min(_CALLS, len(history.seen) - 1) > 0
        and all(
            (seen.gradient is None or seen.gradient > noise) and not seen.is_zero for seen in last
        )
        and not any(seen.facts.is_troubled for seen in last)
    )


RULES: Final = (
    Rule(unchanged, Meaning(
        "unchanged", "warning", "leaves have gradients, and do not change",
        "In the last three calls or more, and for twice as long as before, the leaf was the same.",
        "loss.backward()\nopt.zero_grad()\nopt.step()",
        "opt.zero_grad()\nloss.backward()\nopt.step()",
    )),
)  # fmt: skip
