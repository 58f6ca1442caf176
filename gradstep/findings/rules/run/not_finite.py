"""Calls with NaN or infinite losses or gradients, where only facts tell of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from gradstep.findings.facts import Fact, Facts, Objects
from gradstep.findings.finding import ANY_PROGRAM, Finding, Program, Reason, Rule
from gradstep.findings.not_finite import Began, NotFinite
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
    """A call of a recording has such a loss, or leaves such a ``.grad``: of which ``kinds``."""

    title: str
    loss: float | None
    kinds: tuple[str, ...]
    program: Program = ANY_PROGRAM

    @property
    def began(self) -> Began:
        return "at_or_before"

    def text(self) -> str:
        loss = "" if self.loss is None else f"the loss is {format_number(self.loss)}"
        grads = f"the .grad of {self.named} is {' or '.join(self.kinds)}" if self.leaves else ""
        what = ", and ".join(filter(None, (loss, grads))) or "a gradient is NaN or infinite"
        return f"in {self.title}, {what}"

    def remedy(self) -> str:
        if self.leaves:
            return f"{self.program.command('why', self.leaves[0])} shows where it began"
        return "look at what this loss is computed from"

    def for_program(self, program: Program) -> InCall:
        return replace(self, program=program)

    def calls(self) -> tuple[str, ...]:
        return ("backward", "grad")


@dataclass(frozen=True)
class AllSkipped(NotFinite):
    """No call with a scaled loss had finite gradients."""

    count: int

    def text(self) -> str:
        return (
            f"the gradients were not finite in any of the {self.count} calls with a scaled loss: "
            "every step was skipped, and nothing was learned"
        )

    def remedy(self) -> str:
        return (
            "run more steps, as the factor shrinks with each; if it goes on, leave the scaler out: "
            "what is not finite then has a place"
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
    yield InCall(
        call.title, call.loss, tuple(sorted(kinds)),
        leaves=tuple(run.leaves[leaf.leaf].name for leaf in bad), source=call.line,
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
