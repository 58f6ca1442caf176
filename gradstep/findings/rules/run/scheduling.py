"""Schedulers of learning rates that are stepped at the wrong time, with the wrong argument, for
another optimizer, or never; and rates that come with a loaded state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from gradstep.contract.events import Restored, Scheduled, Stepped
from gradstep.findings.facts import Facts
from gradstep.findings.facts.happened import Happened
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.source_lines import assigned_at
from gradstep.graph.statistics import format_number
from gradstep.text import plural

_STEPS: Final = 20
"""Steps of an optimizer in which its scheduler should have moved."""
_DONE: Final = 0.3
"""Of the steps that a schedule is made for."""
_TIMES: Final = 3
_UP_AND_DOWN: Final = 2.5
"""Half periods of a cosine that was made for one."""
_RESTORED: Final = 0.1
_LOW: Final = 1e-3
"""Of the largest rate of a run, in which a schedule is to leave it for half of the steps."""


@dataclass(frozen=True)
class NeverScheduled(Reason):
    """A ``scheduler`` is never stepped, and the rate of an optimizer stays."""

    code = "schedule"
    keeps_loss = True
    scheduler: str
    optimizer: str
    steps: int
    rate: float | None

    def text(self) -> str:
        rate = "" if self.rate is None else f" at {format_number(self.rate)}"
        return (
            f"{self.scheduler} is created, but its step() never runs: the learning rate of "
            f"{self.optimizer} stays{rate} in all of {self.steps:,} steps"
        )

    def remedy(self) -> str:
        return f"call {self.scheduler}.step() after {self.optimizer}.step(), or after each epoch"


@dataclass(frozen=True)
class OfAnotherOptimizer(Reason):
    """A scheduler changes the rate of an optimizer that never steps, and another one does."""

    code = "schedule"
    keeps_loss = True
    scheduler: str
    stepping: str
    times: int

    def text(self) -> str:
        return (
            f"{self.scheduler} changes the learning rate of an optimizer that never steps, "
            f"{plural(self.times, 'time')}: the one that does, {self.stepping}, was made by "
            "another call, so that its rate never changes"
        )

    def remedy(self) -> str:
        return f"make {self.scheduler} of {self.stepping}, after the last line that makes that"


@dataclass(frozen=True)
class LossForEpoch(Reason):
    """A scheduler is given a number that it takes for the epoch."""

    code = "schedule"
    keeps_loss = True
    marks = ("step",)
    scheduler: str
    kind: str
    given: float

    def text(self) -> str:
        return (
            f"{self.scheduler}.step({format_number(self.given)}) takes its argument as the number "
            f"of the epoch: only ReduceLROnPlateau is given a loss, and this is a {self.kind}"
        )

    def remedy(self) -> str:
        return f"{self.scheduler}.step(), without an argument"


@dataclass(frozen=True)
class TooSlow(Reason):
    """A schedule of ``length`` steps came only to ``place`` when the run ended, as it is stepped
    ``every`` so many steps of the optimizer."""

    code = "schedule"
    keeps_loss = True
    scheduler: str
    length: int
    place: int
    steps: int
    rate: float
    highest: float

    def text(self) -> str:
        return (
            f"{self.scheduler} is made for {self.length:,} steps, and was stepped "
            f"{plural(self.place, 'time')} while the optimizer stepped {self.steps:,} times: the "
            f"learning rate is still {format_number(self.rate)} at the end, and never came near "
            f"{format_number(self.highest)}"
        )

    def remedy(self) -> str:
        return f"call {self.scheduler}.step() after each step of the optimizer, in the inner loop"


@dataclass(frozen=True)
class Lowered(Reason):
    """A scheduler has lowered a rate from ``first`` to ``last`` within ``at`` of ``steps``."""

    code = "schedule"
    keeps_loss = True
    scheduler: str
    kind: str
    first: float
    last: float
    at: int
    steps: int

    def text(self) -> str:
        return (
            f"{self.scheduler} lowers the learning rate from {format_number(self.first)} to less "
            f"than {format_number(_LOW * self.first)} within {self.at:,} of {self.steps:,} steps: "
            f"in the rest of the run, nothing is learned any more"
        )

    def remedy(self) -> str:
        if self.kind == "ReduceLROnPlateau":
            return (
                "look at its mode and patience: mode='min' is for a number that should fall, as a "
                "loss"
            )
        return (
            f"call {self.scheduler}.step() once an epoch, if it counts epochs, or make it for "
            f"{self.steps:,} steps"
        )


@dataclass(frozen=True)
class UpAndDown(Reason):
    """A cosine that is made for ``length`` steps was stepped ``place`` times."""

    code = "schedule"
    keeps_loss = True
    scheduler: str
    length: int
    place: int

    def text(self) -> str:
        return (
            f"{self.scheduler} has T_max={self.length:,}, and was stepped {self.place:,} times: "
            f"after T_max, the learning rate goes up and down "
            f"{self.place / (2 * self.length):.0f} times in this run"
        )

    def remedy(self) -> str:
        return (
            f"call {self.scheduler}.step() once an epoch, if T_max counts epochs, or let T_max be "
            f"{self.place:,}; restarts on purpose are CosineAnnealingWarmRestarts"
        )


@dataclass(frozen=True)
class RestoredRate(Reason):
    """An optimizer has loaded a state with a far smaller rate, and kept that for ``steps``."""

    code = "schedule"
    keeps_loss = True
    marks = ("load_state_dict",)
    optimizer: str
    before: float
    rate: float
    steps: int

    def text(self) -> str:
        return (
            f"load_state_dict() gives {self.optimizer} the learning rate of the state, too, "
            f"{format_number(self.rate)} in place of {format_number(self.before)}: all of "
            f"{self.steps:,} steps after it use that"
        )

    def remedy(self) -> str:
        return (
            f"set the rate after loading: for group in {self.optimizer}.param_groups: "
            f'group["lr"] = {self.before:g}'
        )


def restored_rates(facts: Facts) -> Iterator[Reason]:
    """Yield optimizers whose rate a loaded state has made ten times smaller, and nobody changed
    after that."""
    happened = facts[Happened]
    for event in happened.of(Restored):
        if not event.before or len(event.before) != len(event.rates):
            continue
        before, rate = max(event.before), max(event.rates)
        steps = [
            step.rates for step in happened.of(Stepped)
            if step.thing is event.thing and step.number > event.number
        ]  # fmt: skip
        is_led = any(
            each.optimizer is event.thing and each.number > event.number
            for each in happened.of(Scheduled)
        )
        is_kept = len(steps) >= _STEPS and all(rates == event.rates for rates in steps)
        if rate < _RESTORED * before and is_kept and not is_led:
            name = happened.name(event.thing, f"the {event.kind}")
            yield RestoredRate(name, before, rate, len(steps), source=event.source)


def schedules(facts: Facts) -> Iterator[Reason]:
    """Yield schedulers whose steps do not fit those of their optimizers."""
    happened = facts[Happened]
    steps = happened.of(Stepped)
    is_whole = facts.is_whole and not (facts.is_cut_short or happened.is_full(Stepped))
    by_scheduler: dict[int, list[Scheduled]] = {}
    for event in happened.of(Scheduled):
        by_scheduler.setdefault(id(event.thing), []).append(event)
    for events in by_scheduler.values():
        first = events[0]
        name = assigned_at(first.source) or f"the {first.kind}"
        own = [step for step in steps if step.thing is first.optimizer]
        fraction = next((e for e in events[1:] if e.given is not None and e.given % 1), None)
        if not own:
            yield from _of_no_step(happened, name, events, steps)
        elif fraction is not None and first.kind not in _GIVEN:
            given = next(event for event in events[1:] if event.given is not None)
            yield LossForEpoch(name, first.kind, given.given or 0.0, source=given.source)
        elif is_whole and len(events) == 1:
            yield from _never(happened, name, first, own)
        elif is_whole and len(own) >= _STEPS:
            yield from _timing(name, events, own)


def _of_no_step(
    happened: Happened, name: str, events: Sequence[Scheduled], steps: Sequence[Stepped]
) -> Iterator[Reason]:
    """Of a scheduler whose optimizer never steps."""
    # what wraps an optimizer, as a framework does, has the same groups
    is_followed = len({step.rates for step in steps}) > 1
    is_constant = len({event.rates for event in events}) == 1
    is_one = len({id(step.thing) for step in steps}) == 1
    is_long = len(events) > _TIMES and len(steps) >= _STEPS
    if is_one and is_long and not (is_followed or is_constant):
        stepping = happened.name(steps[-1].thing, f"the {steps[-1].kind}")
        yield OfAnotherOptimizer(name, stepping, len(events) - 1, source=events[0].source)


def _never(
    happened: Happened, name: str, first: Scheduled, steps: Sequence[Stepped]
) -> Iterator[Reason]:
    """Of a scheduler that is created and never stepped."""
    is_alone = len({step.rates for step in steps}) == 1  # else somebody else sets them
    is_meant = not first.is_inner and first.rates and first.kind != "ReduceLROnPlateau"
    if is_meant and is_alone and len(steps) >= _STEPS:
        optimizer = happened.name(first.optimizer, "the optimizer")
        rate = steps[-1].rates[0] if steps[-1].rates else None
        yield NeverScheduled(name, optimizer, len(steps), rate, source=first.source)


def _timing(name: str, events: Sequence[Scheduled], steps: Sequence[Stepped]) -> Iterator[Reason]:
    """Of a scheduler that is stepped too rarely or too often."""
    first, place, count = events[0], events[-1].place, len(steps)
    rates = [step.rates[0] for step in steps if step.rates]
    if any(event.is_inner for event in events) or not first.rates or not rates:
        return
    top, length, stepped_at = max(rates), first.length, events[1].source or first.source
    if length is not None and _is_too_slow(first, top, place, count):
        yield TooSlow(
            name, length, place, count, rates[-1], first.highest, source=stepped_at,
            other=first.source,
        )  # fmt: skip
    elif (
        length is not None
        and first.kind == "CosineAnnealingLR"
        and (place > _UP_AND_DOWN * length and place > count // 2)
    ):
        yield UpAndDown(name, length, place, source=stepped_at, other=first.source)
    elif top:
        low = next((at for at, rate in enumerate(rates) if rate < _LOW * top), count)
        if rates.index(top) < low <= count // 2 and max(rates[low:]) < _LOW * top:
            yield Lowered(
                name, first.kind, top, rates[-1], low, count, source=stepped_at, other=first.source
            )


def _is_too_slow(first: Scheduled, top: float, place: int, count: int) -> bool:
    is_early = first.length is not None and place < _DONE * first.length
    return is_early and top < first.highest / 2 and count > _TIMES * place


_GIVEN: Final = ("ReduceLROnPlateau", "CosineAnnealingWarmRestarts")
"""Kinds that take a number which is no epoch."""


RULES: Final = (
    Rule(schedules, Meaning(
        "schedule", "warning", "a scheduler is stepped at the wrong time, or never",
        "Its length does not match how often its own step() ran, once for each "
        "batch or once for each epoch.",
        "sched = OneCycleLR(opt, 0.1, total_steps=epochs * len(loader))\n"
        "for epoch in range(epochs):\n    train(loader)\n    sched.step()",
        "for epoch in range(epochs):\n    for batch in loader:\n        train(batch)\n"
        "        sched.step()",
        "When the rate should rise again, or stay low.",
    ), needs=(Happened,)),
    Rule(restored_rates, needs=(Happened,), code="schedule"),
)  # fmt: skip
