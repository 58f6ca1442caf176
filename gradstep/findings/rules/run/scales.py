"""Inputs and targets that are far too large for what a network begins with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from gradstep.contract.op_records import OpRecord
from gradstep.findings.facts import Fact, Facts, Forward, Numbers
from gradstep.findings.facts.repeated import (
    Repeated,
    called,
    compared,
    is_data,
    numbers_at,
    past_views,
    rule_of,
    shape_of,
)
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.recording.look import Look

_LAYERS: Final = ("addmm", "linear", "mm", "matmul")
_LARGE: Final = 300.0
_COLUMNS: Final = 1000
_ROWS: Final = 4
_FAR: Final = 0.05
_TARGETS: Final = 100.0
_CALLS: Final = 20
_DISTANCES: Final = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "pow", "square", "abs")


@dataclass(frozen=True)
class LargeColumns(Reason):
    """Columns of an input of a layer are of quite another size."""

    code = "input-scale"
    blames_line = True
    is_effect = True
    name: str
    largest: tuple[int, float] = field(compare=False)
    smallest: tuple[int, float] = field(compare=False)

    def text(self) -> str:
        (column, most), (other, least) = self.largest, self.smallest
        given = f"the input {self.name}".rstrip()
        large = f"numbers of {given} in column {column} are of size {format_number(most)}"
        if column == other:
            return f"{large}: a layer begins with weights for numbers of size 1"
        return (
            f"{large}, and those in column {other} of size {format_number(least)}: a layer begins "
            "with weights for numbers of size 1, and sees the largest column only"
        )

    def remedy(self) -> str:
        name = self.name or "x"
        return f"standardize each column: ({name} - mean) / std, with those of the training data"


class LargeInputs(Repeated):
    """Data that a layer is given as they are, with columns of a size of hundreds and more."""

    def find(self, look: Look) -> Iterator[Reason]:
        ops = [record for record in look.records if isinstance(record, OpRecord)]
        if any("norm" in record.name for record in ops):
            return
        for record in ops:
            if record.name not in _LAYERS or not record.requires_grad:
                continue
            for given in record.inputs:
                if not isinstance(given, tuple) or not is_data(given):
                    continue
                maker = past_views(given)[0]
                if isinstance(maker, OpRecord) and maker.name == "div":
                    continue  # what they are divided by may be wrong
                shape = shape_of(given)
                if len(shape) != 2 or shape[0] < _ROWS or shape[1] > _COLUMNS:
                    continue
                numbers = numbers_at(look, given)
                if numbers is None or numbers.dtype.kind != "f":
                    continue
                sizes = np.sqrt(np.square(numbers, dtype=np.float64).mean(axis=0))
                sizes = np.where(sizes > 0, sizes, np.nan)
                if np.isfinite(sizes).any() and np.nanmax(sizes) > _LARGE:
                    most, least = int(np.nanargmax(sizes)), int(np.nanargmin(sizes))
                    yield LargeColumns(
                        called(look, given), (most, float(sizes[most])),
                        (least, float(sizes[least])), source=record.source,
                    )  # fmt: skip
                    return


class Distance(NamedTuple):
    """The sizes of a prediction and of its target in a call."""

    call: int
    prediction: float
    target: float


class Distances(Fact):
    """How large predictions and targets are, by the line of the loss, and what the target is
    called."""

    needs = (Forward, Numbers)

    def __init__(self) -> None:
        self.by_line: dict[Source | None, list[Distance]] = {}
        self.names: dict[Source | None, str] = {}

    def closely(self, look: Look) -> None:
        for op, prediction, target in compared(look) if look.is_traced else ():
            if op.name not in _DISTANCES:
                continue
            wanted, made = numbers_at(look, target), numbers_at(look, prediction)
            if wanted is None or made is None or wanted.dtype.kind != "f":
                continue
            sizes = [
                float(np.sqrt(np.square(each, dtype=np.float64).mean())) for each in (made, wanted)
            ]
            self.by_line.setdefault(op.source, []).append(Distance(look.facts.index, *sizes))
            self.names[op.source] = called(look, target)


@dataclass(frozen=True)
class FarTargets(Reason):
    """Predictions are far smaller than targets, and still are so after some calls."""

    code = "target-scale"
    is_effect = True
    name: str
    target: float = field(compare=False)
    prediction: float = field(compare=False)
    calls_so_far: int = field(compare=False)

    def text(self) -> str:
        whose = f"the targets {self.name}".rstrip()
        return (
            f"{whose} are of size {format_number(self.target)}, and what the network makes is "
            f"still of size {format_number(self.prediction)} after {self.calls_so_far:,} calls: "
            "steps of this size do not get there"
        )

    def remedy(self) -> str:
        name = self.name or "y"
        return f"standardize the targets: ({name} - mean) / std, with those of the training data"


def far_targets(facts: Facts) -> Iterator[Reason]:
    """Yield losses whose predictions stay far smaller than their targets, which are large."""
    known = facts[Distances]
    for line, distances in known.by_line.items():
        last = distances[-1]
        if last.call >= _CALLS and last.target > _TARGETS and last.prediction < _FAR * last.target:
            yield FarTargets(
                known.names[line], last.target, last.prediction, last.call, source=line
            )


RULES: Final = (
    Rule(rule_of(LargeInputs), Meaning(
        "input-scale", "warning", "numbers that go into a layer are very large",
        "Some column of its input is of a size above 300, and nothing normalizes it. This holds in "
        "each call that check looked at (at least two).",
        "net(torch.stack([age, income], 1))", "net((x - x_train.mean(0)) / x_train.std(0))",
        "When the weights begin as small as these numbers need it.",
    ), needs=(LargeInputs,)),
    Rule(far_targets, Meaning(
        "target-scale", "warning", "targets are far larger than what the network makes",
        "They are of a size above 100, and after at least 20 calls, the predictions are less than "
        "5% of that.",
        "F.mse_loss(net(x), price)", "F.mse_loss(net(x), (price - mean) / std)",
        "When the run is only the begin of a long one.",
    ), needs=(Distances,)),
)  # fmt: skip
