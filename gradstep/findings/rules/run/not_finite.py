"""Calls with NaN or infinite losses or gradients, where only facts tell of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Final

from gradstep.findings.facts import Fact, Facts, Objects
from gradstep.findings.facts.history import is_trial
from gradstep.findings.finding import Finding, Fix, Program, Reason, Rule
from gradstep.findings.not_finite import Began, NotFinite
from gradstep.findings.passes import made_in_recorded
from gradstep.graph.statistics import format_number


class ScaledSteps(Fact):
    """Of each pass from a scaled loss, whether its gradients are finite; else its step is
    skipped."""

    def __init__(self) -> None:
        self.are_finite: list[bool] = []

    def scaled(self, is_finite: bool) -> None:
        self.are_finite.append(is_finite)


@dataclass(frozen=True)
class InCall(NotFinite):
    """A call of a recording has such a loss, or leaves such a ``.grad``: of which ``kinds``.

    Attributes:
        title, call: the call, in words and as ``--call`` takes it.
        because: what the recording tells of where that began, None where it does not.
        is_first: whether it is known to have begun in this call.
        in_full: whether the recording has the call in full.
        recorded: the program that was recorded.
    """

    keeps_loss = False
    title: str
    call: str
    loss: float | None
    kinds: tuple[str, ...]
    because: Reason | None
    is_first: bool
    in_full: bool
    recorded: Program

    @property
    def began(self) -> Began:
        return "at_or_before" if self.because is None else "at"

    @property
    def finds(self) -> str:
        if self.because is not None:
            return ""
        return self.recorded.command(f"check --call {self.call}" if self.is_first else "check")

    @property
    def shows(self) -> str:
        """The command that shows more of it."""
        if not self.in_full or not self.leaves:
            return self.finds
        return self.program.command(f"why --call {self.call}", self.leaves[0])

    def text(self) -> str:
        if self.because is not None:
            return f"in {self.title}, {self.because.text()}"
        loss = "" if self.loss is None else f"the loss is {format_number(self.loss)}"
        grads = f"the .grad of {self.named} is {' or '.join(self.kinds)}" if self.leaves else ""
        what = ", and ".join(filter(None, (loss, grads))) or "a gradient is NaN or infinite"
        before = "" if self.is_first else (
            "; it began there or earlier: only the loss of earlier calls is recorded"
        )  # fmt: skip
        return f"in {self.title}, {what}{before}"

    def remedy(self) -> str:
        if self.because is not None:
            return self.because.remedy()
        return f"{self.finds} finds where it began"

    def fix(self) -> tuple[Fix, ...]:
        return () if self.because is None else self.because.fix()

    def details(self) -> str:
        return "" if self.because is None else self.because.details()

    def parts(self) -> tuple[Reason, ...]:
        return () if self.because is None else (self.because,)

    def calls(self) -> tuple[str, ...]:
        return ("backward", "grad") if self.because is None else self.because.calls()


@dataclass(frozen=True)
class AllSkipped(NotFinite):
    """No call with a scaled loss had finite gradients."""

    helps = (
        "run more steps, as the factor shrinks with each; if it continues, leave the scaler out: "
        "check then names the place"
    )
    count: int

    @property
    def is_cause(self) -> bool:
        return False

    def text(self) -> str:
        return (
            f"the gradients were not finite in any of the {self.count} calls with a scaled loss: "
            "every step was skipped, and nothing was learned"
        )


def not_finite(facts: Facts) -> Iterator[Reason]:
    """Yield the first call of a recording that has such a loss, or leaves such a ``.grad``; of a
    run that was watched, the findings of that call tell more."""
    if Objects in facts.given:
        return
    run = facts.run
    call = next((call for call in run.calls() if call.is_troubled), None)
    if call is None:
        return
    bad = [leaf for leaf in run.of_leaves(call.index) if leaf.is_troubled]
    kinds = {leaf.after.trouble for leaf in bad if leaf.after is not None}
    in_full = call.index in run.full
    # what made the loss so is no matter of the pass
    is_of_pass = in_full and (call.loss is None or isfinite(call.loss))
    because = made_in_recorded(run, call.index) if is_of_pass else None
    yield InCall(
        call.title, call.option, call.loss, tuple(sorted(kinds)), because,
        call.index - 1 not in run.indices or run.call(call.index - 1).level != "call", in_full,
        Program.of(run.header.command),
        leaves=tuple(run.leaves[leaf.leaf].name for leaf in bad),
        source=because.source if because is not None and because.source else call.line,
        address="" if because is None else because.address,
        is_note=is_trial(run, call.title),
    )  # fmt: skip


def skipped(facts: Facts) -> Iterator[Reason]:
    """Yield that no call with a scaled loss had finite gradients."""
    steps = facts[ScaledSteps].are_finite
    is_told = any(
        isinstance(reason, NotFinite) and Finding(reason).is_bad for _, reason in facts.seen
    )
    if len(steps) >= 2 and not any(steps) and not is_told:
        yield AllSkipped(len(steps), source=next(iter(facts.run.calls())).line)


RULES: Final = (
    Rule(skipped, needs=(ScaledSteps,), code="not-finite"),
    Rule(not_finite, code="not-finite"),
)
