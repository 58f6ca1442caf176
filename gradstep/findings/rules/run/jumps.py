"""Calls in which the loss jumps, and losses that rise far above those of a guess."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from statistics import median
from typing import Final, NamedTuple

from gradstep.findings.facts import Fact, Facts
from gradstep.findings.facts.data import data_of
from gradstep.findings.facts.history import lines_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.recording.look import Look
from gradstep.recording.run import Run

_BEFORE: Final = 20
_ENOUGH: Final = 10
_TIMES: Final = 10.0
_RISEN: Final = 5.0
_WORSE: Final = 1000.0  # of a loss that becomes infinite in the end
_OF_CLASSES: Final = ("NllLoss", "CrossEntropy")
_NEAR: Final = 3  # nodes: a loss is divided, or a part of a sum, at most
_FEW: Final = 4


class Jump(NamedTuple):
    """A call whose loss is far above those ``before`` it, ``usual`` being the largest; and the
    ranges of the program's data: the largest size of each then, and in calls before."""

    number: int
    line: Source | None
    loss: float
    usual: float
    before: int
    ranges: tuple[tuple[str, float, float], ...]


class Jumps(Fact):
    """The first jump of the loss of each line."""

    needs = ()

    def __init__(self) -> None:
        self.found: dict[Source | None, Jump] = {}
        self.of_classes: set[Source | None] = set()
        self._last: dict[Source | None, deque[float]] = {}
        self._sizes: dict[str, float] = {}

    def read(self, run: Run) -> None:
        for call in run.calls():
            if call.kind == "backward":
                self._take(call.number, call.line, call.loss)

    def before(self, look: Look) -> None:
        if not look.call.is_grad:
            jump = self._take(look.facts.number, look.line, look.loss)
            if jump is not None:
                ranges = tuple([
                    (data.name, data.size, self._sizes[data.name])
                    for data in data_of(look) if data.name in self._sizes
                ])  # fmt: skip
                self.found[look.line] = jump._replace(ranges=ranges)

    def _take(self, number: int, line: Source | None, loss: float | None) -> Jump | None:
        """Take the next loss of a line; return the first jump, when it comes."""
        if loss is None or not isfinite(loss):
            return None
        last = self._last.setdefault(line, deque(maxlen=_BEFORE))
        usual, jump = max(last, default=0.0), None
        if len(last) >= _ENOUGH and abs(loss) > _TIMES * usual > 0 and line not in self.found:
            jump = self.found[line] = Jump(number, line, loss, usual, len(last), ())
        last.append(abs(loss))
        return jump

    def closely(self, look: Look) -> None:
        if any(node.name().startswith(_OF_CLASSES) for node in look.order[:_NEAR]):
            self.of_classes.add(look.line)
        if look.line not in self.found:
            for data in data_of(look):
                self._sizes[data.name] = max(data.size, self._sizes.get(data.name, 0.0))


@dataclass(frozen=True)
class LossJumps(Reason):
    """The loss of a call is far above those before; ``ranges`` are those of data that are so."""

    code = "loss-jumps"
    is_effect = True
    call: int
    before: int = field(compare=False)
    usual: float = field(compare=False)
    loss: float = field(compare=False)
    ranges: tuple[tuple[str, float, float], ...] = field(compare=False)

    def text(self) -> str:
        said = "".join(
            f"; {name} reaches {format_number(most)} there, and {format_number(usual)} in the "
            "calls that were looked at before"
            for name, most, usual in self.ranges
        )
        return (
            f"the loss is {format_number(self.loss)} in backward() call {self.call}, and at most "
            f"{format_number(self.usual)} in the {self.before} calls before it{said}"
        )

    def remedy(self) -> str:
        if self.ranges:
            return f"look at the batch of that call: {self.ranges[0][0]} is out of range"
        return f"look at the batch of that call, and at the step before it: {self.shows}"

    @property
    def shows(self) -> str:
        """The command that shows the call."""
        return self.program.command(f"debug --call {self.call}")


@dataclass(frozen=True)
class LossRises(Reason):
    """A loss of classes is far above what it began with."""

    code = "loss-rises"
    is_effect = True
    after = ("changed",)
    helps = "make the learning rate smaller, 10 times at first"
    explained_by = ("large-steps",)
    first: float = field(compare=False)
    last: float = field(compare=False)
    count: int = field(compare=False)

    def text(self) -> str:
        return f"{self._rises}: a guess would do better"

    @property
    def _rises(self) -> str:
        first, last = format_number(self.first), format_number(self.last)
        return f"the loss rises from {first} to {last} in {self.count} calls"


@dataclass(frozen=True)
class Diverges(LossRises):
    """A loss rises until it is NaN or infinite."""

    is_effect = False

    def text(self) -> str:
        return f"{self._rises}, and then it is not finite: each step makes it worse"


def jumps(facts: Facts) -> Iterator[Reason]:
    """Yield jumps: warnings, where data of that call are out of range, too, and else notes, as the
    losses of policies and critics may jump."""
    for jump in facts[Jumps].found.values():
        ranges = tuple(each for each in jump.ranges if each[1] > _TIMES * each[2] > 0)
        yield LossJumps(
            jump.number,
            jump.before,
            jump.usual,
            jump.loss,
            ranges,
            source=jump.line,
            is_note=not ranges,
        )
    for line, calls in lines_of(facts.run):
        end = next((at for at, call in enumerate(calls) if call.is_troubled), len(calls))
        losses = [loss for call in calls[:end] if (loss := call.loss) is not None]
        if len(losses) < _FEW:
            continue
        first, last = max(losses[:2]), losses[-max(2, len(losses) // 4) :]
        if first <= 0:
            continue
        if end < len(calls) and median(last) > _WORSE * first:
            yield Diverges(first, last[-1], len(losses), source=line)
        elif line in facts[Jumps].of_classes and min(last) > _RISEN * first:
            yield LossRises(first, last[-1], len(losses), source=line)


RULES: Final = (
    Rule(jumps, Meaning(
        "loss-jumps", "warning", "the loss jumps in one call",
        "It is 10 times that of the 10 to 20 calls before, and data of that call are 10 times as "
        "large.",
        "x = batch  # one in km, the others in m", "x = batch.clamp(-5, 5)",
        "When losses normally jump, like those of policies; then it is a note.",
    ), Meaning(
        "loss-rises", "warning", "the loss rises",
        "At the end, all losses are 5 times those of the first two calls, and it is a loss of "
        "classes; or it is 1,000 times as large, and then NaN or infinite.",
        "lr=50.0", "lr=0.01",
        "When you make the data harder on purpose.",
    ), needs=(Jumps,)),
)  # fmt: skip
