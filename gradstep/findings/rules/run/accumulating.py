"""Gradients that are cleared too late, after a step used them, or too early, before one does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.history import History, Seen, histories
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line
from gradstep.findings.source_lines import as_written, calls_of

_TIMES = 2
_STEPS = 4


@dataclass(frozen=True)
class UsedAgain(Reason):
    """A step of the ``optimizer`` used gradients, and nothing cleared them."""

    code = "stale-grad"
    keeps_loss = True
    after = ("zero-grad",)
    optimizer: str

    def text(self) -> str:
        return (
            f"{self.named} {self.of('has', 'have')} the .grad of earlier calls: step() has used "
            "it, nothing cleared it, and each call adds to it, so that the sum of all gradients is "
            "used in every step"
        )

    def remedy(self) -> str:
        return f"call {self.optimizer}.zero_grad() before this backward()"

    def fix(self) -> tuple[Fix, ...]:
        name = "" if self.source is None else as_written(self.optimizer, self.source.file)
        return Line(self.source).replaced(f"{name}.zero_grad()\n{{line}}")


@dataclass(frozen=True)
class Discarded(Reason):
    """Of each step, the gradients of ``count`` calls are cleared before it."""

    code = "discarded"
    optimizer: str
    count: int

    def text(self) -> str:
        return (
            f"each step uses the gradient of one call, and {self.count} of {self.count + 1} are "
            f"cleared before a step uses them: those of {self.named}"
        )

    def remedy(self) -> str:
        return f"to accumulate gradients, call zero_grad() only after {self.optimizer}.step()"


def accumulating(facts: Facts) -> Iterator[Reason]:
    """Yield the leaves that changed twice or more between two calls while their ``.grad`` stayed as
    the first one left it: step() ran, and zero_grad() did not. Between calls on two lines this is
    a mistake only if nothing clears it later."""
    stale = [
        history
        for history in histories(facts.run)
        if _used_again(history) >= _TIMES or _is_never_cleared(history)
    ]
    if not stale:
        return
    names = tuple(history.leaf.name for history in stale)
    line = stale[0].seen[0].call.line
    cleared = calls_of("zero_grad", line.file) if line is not None else []
    yield UsedAgain(
        stale[0].seen[-1].facts.optimizer or "optimizer", leaves=names, source=line,
        other=cleared[0] if cleared else None,
    )  # fmt: skip


def _used_again(history: History) -> int:
    """Count the calls of one line that added to a gradient which a step had used, where a step then
    used the sum: that of a critic, to which the loss of the actor adds, is cleared before."""
    return sum(
        bool(after.facts.update_rms)
        and before.call.line == after.call.line
        and after.follows
        and _is_kept(before, after)
        and (later is None or bool(later.follows and later.facts.update_rms))
        for (before, after), later in zip_longest(pairwise(history.seen), history.seen[2:])
    )


def _is_never_cleared(history: History) -> bool:
    changes = sum(bool(seen.facts.update_rms) for seen in history.seen)
    return changes > _TIMES and all(_is_kept(*pair) for pair in history.pairs)


def _is_kept(before: Seen, after: Seen) -> bool:
    """Return whether a call found the ``.grad`` that another one left."""
    return (
        after.facts.before_checksum is not None
        and not after.is_fresh
        and after.facts.before_checksum == before.facts.after_checksum
    )


def discarded(facts: Facts) -> Iterator[Reason]:
    """Yield the leaves of which each step uses the gradient of one call, and those of the calls
    before were cleared, of as many each time: they were meant to be accumulated. A step that only
    runs on a condition is meant to throw some away."""
    lost = [(history, count) for history in histories(facts.run) if (count := _lost(history))]
    if not lost:
        return
    (first, count), names = lost[0], tuple(history.leaf.name for history, _ in lost)
    line, optimizer = first.seen[0].call.line, first.seen[-1].facts.optimizer or "optimizer"
    clears = calls_of("zero_grad", line.file) if line is not None else []
    yield Discarded(
        optimizer, count, leaves=names, source=clears[0] if clears else line,
        other=line if clears else None,
    )  # fmt: skip


def _lost(history: History) -> int:
    """Return how many gradients are lost before each step, 0 where the number varies."""
    counts: list[int] = []
    count: int | None = 0
    for before, after in pairwise(history.seen):
        if not after.follows:
            count = None  # until the next step
            continue
        if before.call.line != after.call.line or not after.is_fresh or before.is_zero:
            return 0
        if after.facts.update_rms != 0:
            counts += [] if count is None else [count]
            count = 0
        elif count is not None:
            count += 1
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
        "Each of four steps or more uses the gradient of one call, and the gradients of equally "
        "many earlier calls were cleared.",
        "opt.zero_grad()\nloss.backward()\nif i % 4 == 3:\n    opt.step()",
        "loss.backward()\nif i % 4 == 3:\n    opt.step()\n    opt.zero_grad()",
        "When you only measure those gradients.",
    )),
)  # fmt: skip
