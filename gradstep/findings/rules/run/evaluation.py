"""Modules that are evaluated otherwise than they are trained: on other data, or with dropout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from gradstep.contract.events import Called, Extent
from gradstep.contract.module_paths import named_modules
from gradstep.findings.facts import Facts
from gradstep.findings.facts.happened import Happened
from gradstep.findings.facts.program import Files
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.source_lines import calls_of
from gradstep.graph.statistics import format_number
from gradstep.guest.fence import attribute_of

_TIMES: Final = 8.0
_NEGATIVE: Final = 0.3
_MANY: Final = 64
_FEATURES: Final = 4


@dataclass(frozen=True)
class OtherRange(Reason):
    """A ``module`` is given numbers of another range where it is evaluated."""

    code = "other-range"
    other_is = "trained at"
    module: str
    trained: tuple[float, float]
    evaluated: tuple[float, float]

    def text(self) -> str:
        low, high = map(format_number, self.evaluated)
        least, most = map(format_number, self.trained)
        return (
            f"{self.module} is given numbers from {low} to {high} here, without gradients, and was "
            f"trained on numbers from {least} to {most}: both are not prepared in the same way"
        )

    def remedy(self) -> str:
        return "scale and normalize the inputs of evaluation as those of training"


@dataclass(frozen=True)
class DropoutOn(Reason):
    """A ``module`` is evaluated in training mode, in which its ``part`` drops numbers."""

    code = "dropout-on"
    other_is = "trained at"
    keeps_loss = True
    explained_by = ("no-eval",)
    module: str
    part: str

    def text(self) -> str:
        return (
            f"{self.module} is called without gradients here, and is in training mode: {self.part} "
            "drops numbers at random, and no line calls eval()"
        )

    def remedy(self) -> str:
        return f"{self.module}.eval() before it, and {self.module}.train() after it"


def evaluation(facts: Facts) -> Iterator[Reason]:
    """Yield modules that are trained, and called without gradients in another way."""
    happened = facts[Happened]
    by_module: dict[int, list[Called]] = {}
    for event in happened.of(Called):
        by_module.setdefault(id(event.thing), []).append(event)
    for calls in by_module.values():
        trained = [each for each in calls if each.has_gradients and each.is_training]
        others = [each for each in calls if not each.has_gradients]
        if trained and others:
            name = happened.name(trained[0].thing) or f"the {trained[0].kind}"
            yield from _other_range(name, trained, others)
            yield from _dropout(facts, name, calls)


def _other_range(name: str, trained: list[Called], others: list[Called]) -> Iterator[Reason]:
    known = [each.given for each in trained if each.given is not None]
    before = _together(known)
    for event in others:
        given = event.given
        if given is None or before is None or given.shape[1:] != before.shape[1:]:
            continue
        if prod(given.shape) < _MANY or prod(given.shape[1:]) < _FEATURES:
            continue  # points at which a function is drawn may be anywhere
        if _differ(before, given):
            yield OtherRange(
                name, (before.smallest, before.largest), (given.smallest, given.largest),
                source=event.source, other=trained[0].source,
            )  # fmt: skip
            return


def _differ(trained: Extent, given: Extent) -> bool:
    """Return whether the numbers are of quite another size, or all have one sign where they had
    both, and are centred on 0."""
    sizes = sorted((trained.rms, given.rms))
    if sizes[0] > 0 and sizes[1] > _TIMES * sizes[0]:
        return True
    return any(
        one.smallest < -_NEGATIVE * one.largest < 0 <= other.smallest < other.largest
        for one, other in ((trained, given), (given, trained))
    )


def _together(known: Sequence[Extent]) -> Extent | None:
    shapes = {each.shape[1:] for each in known}
    if len(shapes) != 1:
        return None
    return Extent(
        known[0].shape,
        min(each.smallest for each in known),
        max(each.largest for each in known),
        max(each.rms for each in known),
    )


def _dropout(facts: Facts, name: str, calls: list[Called]) -> Iterator[Reason]:
    """Yield a module that is never in evaluation mode, although it drops numbers."""
    if any(not each.is_training for each in calls):
        return
    if any(calls_of("eval", file) or calls_of("train", file) for file in facts[Files].names):
        return
    module = calls[0].thing() if calls[0].thing is not None else None
    parts = [] if module is None else named_modules(module)
    for path, part in parts:
        share = attribute_of(part, "p")
        if "Dropout" in type(part).__name__ and isinstance(share, float) and share > 0:
            event = next(each for each in calls if not each.has_gradients)
            first = next(each for each in calls if each.has_gradients)
            label = f"{name}.{path}" if path else name
            yield DropoutOn(name, label, source=event.source, other=first.source)
            return


RULES: Final = (
    Rule(evaluation, Meaning(
        "other-range", "warning", "evaluation gets numbers of another range than training",
        "A module is called without gradients, with numbers that are 8 times as large or as small "
        "as in training, or that have one sign where those had both.",
        "net((x - 128) / 64).backward()\nwith torch.no_grad():\n    net(x_val)",
        "with torch.no_grad():\n    net((x_val - 128) / 64)",
        "When it should be tried on other data than it knows.",
    ), Meaning(
        "dropout-on", "warning", "dropout is on in evaluation",
        "A module with dropout is called without gradients, always in training mode, and no file "
        "calls eval().",
        "with torch.no_grad():\n    net(x_val)",
        "net.eval()\nwith torch.no_grad():\n    net(x_val)\nnet.train()",
        "When you average over several samples of dropout.",
    ), needs=(Happened,), uses=(Files,)),
)  # fmt: skip
