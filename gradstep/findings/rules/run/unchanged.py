"""Leaves that have gradients and do not change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from linecache import getline
from typing import Final

from gradstep.contract.events import Cleared, Stepped
from gradstep.findings.facts import Facts
from gradstep.findings.facts.happened import Happened
from gradstep.findings.facts.history import History, histories
from gradstep.findings.facts.learning import Learning
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line
from gradstep.findings.hindrances import Hindrance, LostInRounding, ZeroRate, hindrance
from gradstep.findings.rules.run.step_sizes import Schedule, slow_optimizers
from gradstep.findings.source_lines import (
    as_written,
    assigned,
    calls_of,
    measures_gradients,
    schedulers,
    steps_from_grad,
)
from gradstep.graph.model import Source

_CALLS: Final = 3
"""Calls, the last ones, over which a leaf is to have been the same."""
_TIMES: Final = 2
"""Of the longest time for which it was the same before that."""
_END: Final = 0.02
"""Of the calls of a run, the last ones: its end, at which a schedule may come to 0."""
_NOISE: Final = 1e-6
"""Of the largest gradient: smaller ones are what rounding leaves of 0."""


class _Unchanged(Reason):
    code = "unchanged"
    after = ("unscaled",)


@dataclass(frozen=True)
class Unchanged(_Unchanged):
    """Leaves have gradients, and do not change, ``because`` of something; ``since`` a call, 0 from
    the beginning on."""

    keeps_loss = True
    because: Reason
    since: int

    def text(self) -> str:
        has = self.of("has", "have")
        when = f"from call {self.since} on" if self.since else "in the whole run"
        why = self.because.text()
        return f"{self.named} {has} gradients and {has} not changed {when}: {why}"

    def remedy(self) -> str:
        return self.because.remedy()

    def fix(self) -> tuple[Fix, ...]:
        return self.because.fix()

    def parts(self) -> tuple[Reason, ...]:
        return (self.because,)

    def calls(self) -> tuple[str, ...]:
        return self.because.calls()


@dataclass(frozen=True)
class BySchedule(Reason):
    """The learning rate is 0, or too low, and a scheduler may have made it so; ``is_end`` where
    that is the end of the run."""

    keeps_loss = True
    cause: Hindrance
    schedule: Schedule
    is_end: bool = False

    def text(self) -> str:
        return f"{self.cause.text()}{' at the end' if self.is_end else ''}"

    def remedy(self) -> str:
        return "nothing to do: a schedule ends there" if self.is_end else self.schedule.remedy()

    def fix(self) -> tuple[Fix, ...]:
        return () if self.is_end else self.schedule.fix()


@dataclass(frozen=True)
class NeverSteps(Reason):
    """No line after that of the ``call`` lets the optimizer step."""

    keeps_loss = True
    optimizer: str
    call: Source

    def text(self) -> str:
        name = "the optimizer" if self.optimizer == "optimizer" else self.optimizer
        return f"{name}.step() does not run"

    def remedy(self) -> str:
        return f"call {self.optimizer}.step() after backward()"

    def fix(self) -> tuple[Fix, ...]:
        name = as_written(self.optimizer, self.call.file)
        return Line(self.call).replaced(f"{{line}}\n{name}.step()")


@dataclass(frozen=True)
class ClearedFirst(Reason):
    """zero_grad() runs between the ``call`` and the step."""

    keeps_loss = True
    marks = "zero_grad", "step"
    helps = "call zero_grad() before backward(), and step() after it"
    call: Source

    def text(self) -> str:
        line = 0 if self.source is None else self.source.line
        return f"zero_grad() in line {line} clears them before step()"

    def fix(self) -> tuple[Fix, ...]:
        if self.source is None or self.source.line <= self.call.line:
            return ()
        first = f"{getline(*self.source).strip()}\n{{line}}"
        return *Line(self.call).replaced(first), Fix(self.source, "")


@dataclass(frozen=True)
class PutBack(Reason):
    """The steps of an optimizer use the gradient, and the leaf is as before at the next call."""

    optimizer: str
    marks = ("step",)
    helps = (
        "look for code that restores the old numbers between step() and the next call: copy_(), "
        "load_state_dict(), .data, or a copy of the model that is used in its place"
    )

    def text(self) -> str:
        return (
            f"{self.optimizer}.step() runs with these gradients, and something undoes what it does"
        )


@dataclass(frozen=True)
class StepNotWritten(_Unchanged):
    """A line computes a step, and changes nothing."""

    def text(self) -> str:
        them = self.of("it", "them")
        line = 0 if self.source is None else self.source.line
        return (
            f"{self.named} {self.of('has', 'have')} gradients, and no call found {them} changed: "
            f"line {line} computes a step, and does not write it into {them}"
        )

    def remedy(self) -> str:
        first = self.leaves[0]
        return (
            f"change {self.of('it', 'them')} in place under no_grad(): "
            f"{first}.sub_(lr * {first}.grad)"
        )


def unchanged(facts: Facts) -> Iterator[Reason]:
    """Yield the leaves that the last three calls or more found as they were although gradients had
    come to them."""
    every = list(histories(facts.run))
    if not facts.run.training.groups and not facts[Learning].trained:
        yield from _by_hand(every)
    for cause, alike in _by_cause(facts, every).items():
        yield _of_cause(facts, cause, alike)


def _by_cause(facts: Facts, every: list[History]) -> dict[Hindrance, list[History]]:
    """Return the leaves that stayed as they were, by what hinders their steps."""
    largest = max((g for history in every for s in history.seen if (g := s.gradient)), default=0.0)
    trained = {held.name for held in facts[Learning].trained.values()}
    groups = facts.run.training.groups
    slow = slow_optimizers(facts)  # a finding of its own
    by_cause: dict[Hindrance, list[History]] = {}
    for history in every:
        leaf, last = history.leaf, history.seen[-1]
        # a part may stay as it is where the whole does not
        if leaf.is_part or leaf.name not in trained or last.facts.optimizer in slow:
            continue
        if last.call.line is not None and measures_gradients(last.call.line):
            continue
        if _is_idle(history, _NOISE * largest):
            size = next((g for s in reversed(history.seen) if (g := s.gradient)), 1.0)
            held = [(g.optimizer, g.options) for g in groups if leaf.number in g.leaves]
            cause = hindrance(held if groups else None, leaf.dtype, last.facts.parameter_rms, size)
            by_cause.setdefault(cause, []).append(history)
    return by_cause


def _of_cause(facts: Facts, cause: Hindrance, alike: list[History]) -> Unchanged:
    first = alike[0]
    last, still = first.seen[-1], _still(first)
    fresh = all(seen.is_fresh for seen in first.seen)
    optimizer, line = last.facts.optimizer or "", last.call.line
    because = _likely(cause, fresh, optimizer, line)
    if because is cause and not cause.is_known:
        because = _happened(facts, first.leaf.name, optimizer, line) or because
    since = len(first.seen) - still
    # a schedule may end at a rate that changes nothing any more
    is_end = isinstance(because, BySchedule) and still <= max(_CALLS, _END * len(first.seen))
    if isinstance(because, BySchedule):
        because = replace(because, is_end=is_end)
    source = because.source
    return Unchanged(
        because, 0 if since <= 1 else first.seen[since].call.number, is_note=is_end,
        leaves=tuple(history.leaf.name for history in alike), source=source or line,
        other=None if source is None else line,
    )  # fmt: skip


def _by_hand(every: list[History]) -> Iterator[Reason]:
    """Yield the leaves of a program without an optimizer that computes a step from their ``.grad``,
    and changes none of them."""
    every = [history for history in every if not history.leaf.is_part]
    idle = [history for history in every if _is_idle(history, 0.0)]
    lines = [history.seen[0].call.line for history in idle]
    if not idle or len(idle) < len(every) or lines[0] is None or len(idle[0].seen) < _CALLS:
        return
    steps = steps_from_grad(lines[0].file)
    if steps:
        names = tuple(history.leaf.name for history in idle)
        yield StepNotWritten(leaves=names, source=steps[0], other=lines[0])


def _likely(cause: Hindrance, fresh: bool, optimizer: str, line: Source | None) -> Reason:
    """Return what is known of the cause, with its line."""
    if line is None:
        return cause
    of_rate = isinstance(cause, ZeroRate | LostInRounding)
    if of_rate and (scheduled := schedulers(line.file)):
        schedule = Schedule(0.0, source=scheduled[0])
        fix = schedule.fix()
        return BySchedule(cause, schedule, source=fix[0].source if fix else scheduled[0])
    if cause.is_known:
        return replace(cause, source=next(iter(assigned(optimizer, line.file)), None))
    steps = calls_of("step", line.file, optimizer)
    if not steps:
        return NeverSteps(optimizer or "optimizer", line)
    between = [
        at for at in calls_of("zero_grad", line.file) if line.line < at.line < steps[-1].line
    ]
    return ClearedFirst(line, source=between[0]) if fresh and between else cause


def _happened(facts: Facts, name: str, optimizer: str, line: Source | None) -> Reason | None:
    """Return what the steps of an optimizer show of the leaf ``name``: that they use its gradient,
    or that this was cleared before; None where they are not known."""
    held = {identity for identity, each in facts[Learning].trained.items() if each.name == name}
    steps = [step for step in facts[Happened].of(Stepped) if any(step.rates)]
    if not held or not steps:
        return None
    if any(held & step.leaves for step in steps[-_CALLS:]):
        return PutBack(optimizer or "the optimizer", source=steps[-1].source)
    clears = [clear for clear in facts[Happened].of(Cleared) if held & clear.leaves]
    return ClearedFirst(line, source=clears[-1].source) if clears and line is not None else None


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
        "unchanged", "warning", "leaves have gradients but do not change",
        "The leaf stayed the same for at least the last three calls, and twice as long as before.",
        "loss.backward()\nopt.zero_grad()\nopt.step()",
        "opt.zero_grad()\nloss.backward()\nopt.step()",
        "When you only measure them.",
    ), needs=(Learning,), uses=(Happened,)),
)  # fmt: skip
