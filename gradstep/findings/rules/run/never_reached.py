"""Leaves that an optimizer is to train and to which no call of the run came, or none for long."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from linecache import getline
from typing import Final

from gradstep.findings.facts import Facts, Forward, Objects
from gradstep.findings.facts.happened import Happened
from gradstep.findings.facts.history import histories
from gradstep.findings.facts.learning import Learning, confirmed
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.rules.graph.cuts import ConstantGradient, Cut, NotRecomputed
from gradstep.findings.rules.graph.leaves import Unreached
from gradstep.findings.rules.run.sampled import Sampled
from gradstep.findings.source_lines import assigned, calls_of


@dataclass(frozen=True)
class NeverReached(Unreached):
    """An ``optimizer`` has leaves to which none of the calls came; ``cause`` is the likely one."""

    keeps_loss = False
    optimizer: str
    count: int
    cause: Cut | None

    def text(self) -> str:
        gets, them = self.of("gets", "get"), self.of("it", "them")
        likely = "" if self.cause is None else f", {self.cause.guess()}"
        none = f"none of the {self.count:,} calls" if self.count > 1 else "the only call never"
        return (
            f"{self.named} never {gets} a gradient: {self.optimizer} has {them}, and "
            f"{none} reached {them}{likely}"
        )

    def remedy(self) -> str:
        if self.cause is not None:
            return self.cause.advice()
        return (
            f"use {self.of('it', 'them')} in the loss after which {self.optimizer}.step() runs, "
            "without detach() or no_grad() on the way"
        )

    def fix(self) -> tuple[Fix, ...]:
        return () if self.cause is None else self.cause.fix()

    def calls(self) -> tuple[str, ...]:
        return () if self.cause is None else self.cause.calls()


@dataclass(frozen=True)
class NeverAgain(Unreached):
    """Leaves that an ``optimizer`` has got a gradient until a call, and none since."""

    optimizer: str
    when: int

    def text(self) -> str:
        gets, them = self.of("gets", "get"), self.of("it", "them")
        return (
            f"{self.named} {gets} no gradient after call {self.when}, though {self.optimizer} has "
            f"{them}: requires_grad was set to False, and never to True again"
        )

    def remedy(self) -> str:
        return (
            f"call requires_grad_(True) on {self.of('it', 'them')} before the loss that "
            f"{self.optimizer} is to lower"
        )


def never_reached(facts: Facts) -> Iterator[Reason]:
    """Yield what an optimizer has and never gets a gradient."""
    if not facts.is_whole:
        return
    learning, run = facts[Learning], facts.run
    calls = len(run.indices if Objects in facts.given else run.described)
    # to which leaves others came, a recording does not tell
    knows_all = Objects in facts.given or all(
        call.kind == "backward" and not call.error for call in run.calls()
    )
    is_note = learning.waits(facts) or not knows_all
    cause = _likely(facts)
    for optimizer, lost in learning.lost(facts).items():
        names = [leaf.name for leaf in lost]
        lines = assigned(optimizer, facts.file)
        source = (cause and cause.source) or (lines[0] if lines else facts.line)
        aside = set() if cause else _aside(facts, optimizer, names)
        for of_part in (True, False):
            if part := tuple(name for name in names if (name in aside) == of_part):
                yield NeverReached(
                    optimizer, calls, cause, leaves=part, source=source, is_note=of_part or is_note
                )


def _aside(facts: Facts, optimizer: str, names: list[str]) -> set[str]:
    """Return those leaves of an optimizer that may be of a part for later."""
    has = sum(leaf.optimizer == optimizer for leaf in facts[Learning].trained.values())
    idle = facts.run.training.idle
    if len(names) == has:
        return set()
    # of a part of a program that runs, the rule on its graphs is to tell
    if idle is None or Forward in facts.given:
        return {*names}
    return {facts.run.leaves[number].name for number in idle} & {*names}


def _likely(facts: Facts) -> Cut | None:
    """Return what may be the cause."""
    for _, reason in facts.seen:
        if isinstance(reason, ConstantGradient) and not reason.is_note:
            return reason
    if sampled := calls_of("sample", facts.file):
        return Sampled(source=sampled[0])
    for at in calls_of("checkpoint", facts.file):
        if "use_reentrant=True" in getline(*at):
            return NotRecomputed(source=at)
    return None


def frozen(facts: Facts) -> Iterator[Reason]:
    """Yield the leaves of an optimizer that got a gradient in one call, or two, and have required
    none since, for ten calls or more."""
    off: dict[tuple[str, int], list[str]] = {}
    seen = {history.leaf.name: history.seen for history in histories(facts.run)}
    calls = [call for call in facts.run.calls() if call.kind == "backward"]
    for trained in facts[Learning].trained.values():
        got = [seen.call for seen in seen.get(trained.name, ())]
        is_late = 0 < len(got) <= _FEW and calls[-1].index - got[-1].index >= _LONG
        if is_late and not trained.leaf.requires_grad:
            off.setdefault((trained.optimizer, got[-1].number), []).append(trained.name)
    for (optimizer, when), names in off.items():
        file = "" if calls[0].line is None else calls[0].line.file
        lines = [*assigned("requires_grad", file), *calls_of("requires_grad_", file)]
        yield NeverAgain(
            optimizer, when, leaves=tuple(names), source=lines[0] if lines else calls[0].line
        )


_FEW: Final = 2
_LONG: Final = 10


def _in_run(reason: Reason, facts: Facts) -> Reason:
    return confirmed(reason, facts, is_of_run=True)


RULES: Final = (
    Rule(never_reached, Meaning(
        "unreached", "warning", "an optimizer has leaves that no call reaches",
        "No backward() of the run reached these leaves, or none after the "
        "first two: they never change.",
        "action = Normal(mean, 1).sample()", "action = Normal(mean, 1).rsample()",
        "When you need them later. If it is only a part of the optimizer's leaves, it is a note.",
    ), needs=(Learning,), uses=(Happened,), in_run=_in_run),
    Rule(frozen, needs=(Objects, Learning), code="unreached"),
)  # fmt: skip
