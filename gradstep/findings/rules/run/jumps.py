"""Calls in which the loss jumps, and losses that rise far above those of a guess."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Final, NamedTuple

from gradstep.contract.op_records import OpRecord
from gradstep.findings.facts import Fact, Facts
from gradstep.findings.facts.history import lines_of
from gradstep.findings.facts.repeated import OF_CLASSES
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.recording.look import Look

_BEFORE: Final = 20
_ENOUGH: Final = 10
_TIMES: Final = 10.0
_MOST: Final = 1 << 20
_RISEN: Final = 5.0
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

    def __init__(self) -> None:
        self.found: dict[Source | None, Jump] = {}
        self.of_classes: set[Source | None] = set()
        self._last: dict[Source | None, deque[float]] = {}
        self._ranges: dict[str, float] = {}

    def before(self, look: Look) -> None:
        line, loss = look.line, look.loss
        if look.call.is_grad or loss is None or not isfinite(loss):
            return
        last = self._last.setdefault(line, deque(maxlen=_BEFORE))
        usual = max(last, default=0.0)
        if len(last) >= _ENOUGH and abs(loss) > _TIMES * usual > 0 and line not in self.found:
            known = {name: most for name, most in _ranges_of(look) if name in self._ranges}
            ranges = tuple((name, most, self._ranges[name]) for name, most in known.items())
            self.found[line] = Jump(look.facts.number, line, loss, usual, len(last), ranges)
        last.append(abs(loss))

    def closely(self, look: Look) -> None:
        for record, _ in look.origins:
            if isinstance(record, OpRecord) and record.name in OF_CLASSES:
                self.of_classes.add(look.line)
        if look.line not in self.found:
            for name, most in _ranges_of(look):
                self._ranges[name] = max(most, self._ranges.get(name, 0.0))


def _ranges_of(look: Look) -> Iterator[tuple[str, float]]:
    """Yield the program's variables that hold data, and the largest size of a number in each."""
    numbers, names = look.engine.numbers, look.names
    data = [
        tensor
        for tensor in names.tensors()
        if not tensor.requires_grad and 1 < tensor.numel() <= _MOST
    ]
    for tensor, known in zip(data, numbers.all_statistics(data) if numbers else (), strict=False):
        if known is not None and known.minimum is not None and known.maximum is not None:
            yield names.of(tensor), max(abs(known.minimum), abs(known.maximum))


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
    helps = "make the learning rate smaller, 10 times at first"
    explained_by = ("large-steps", "not-finite")
    first: float = field(compare=False)
    last: float = field(compare=False)
    count: int = field(compare=False)

    def text(self) -> str:
        return (
            f"the loss rises from {format_number(self.first)} to {format_number(self.last)} in "
            f"{self.count} calls: a guess would do better"
        )


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
        losses = [call.loss for call in calls if call.loss is not None and isfinite(call.loss)]
        if line not in facts[Jumps].of_classes or len(losses) < _FEW:
            continue
        first, last = max(losses[:2]), losses[-max(2, len(losses) // 4) :]
        if first > 0 and min(last) > _RISEN * first:
            yield LossRises(first, last[-1], len(losses), source=line)


RULES: Final = (
    Rule(jumps, Meaning(
        "loss-jumps", "warning", "the loss jumps in one call",
        "It is 10 times that of the 10 to 20 calls before, and data of that call are 10 times as "
        "large.",
        "x = batch  # one in km, the others in m", "x = batch.clamp(-5, 5)",
        "When losses normally jump, like those of policies; then it is a note.",
    ), Meaning(
        "loss-rises", "warning", "a classification loss rises",
        "At the end, all losses are 5 times those of the first two calls.",
        "lr=50.0", "lr=0.01",
        "When you make the data harder on purpose.",
    ), needs=(Jumps,)),
)  # fmt: skip
