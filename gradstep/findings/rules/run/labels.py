"""Targets that are one number in all calls, or one class in each batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from gradstep.capturing.statement import nodes_on
from gradstep.contract.op_records import OpRecord
from gradstep.findings.facts import Fact, Facts, Forward, Numbers
from gradstep.findings.facts.repeated import (
    OF_CLASSES,
    Repeated,
    called,
    compared,
    numbers_at,
    past_views,
    rule_of,
)
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.source_lines import calls_of, calls_with
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.recording.look import Look

_ROWS: Final = 4
_SAMPLER: Final = "WeightedRandomSampler"
_FROM_LOADERS: Final = ("stack", "select", "index", "index_select", "cat")


@dataclass(frozen=True)
class OneTarget(Reason):
    """All targets of all batches that were looked at are one number; the second line makes integers
    of fractions, or a sampler that draws few items."""

    code = "one-target"
    blames_line = True
    other_is = "made at"
    name: str
    number: float
    by_op: str
    why: Literal["", "cut", "sampler"]

    def text(self) -> str:
        whose = f"the targets {self.name}" if self.name else "the targets"
        why = {
            "": "",
            "cut": ": dtype=torch.long cuts off the fraction of each number",
            "sampler": f": {_SAMPLER} takes a weight for each item, not for each class, and draws "
            "only as many items as it has weights",
        }[self.why]
        return f"{whose} are {format_number(self.number)} in all batches{why}"

    def remedy(self) -> str:
        if self.why == "cut":
            return "make them torch.float32"
        if self.why == "sampler":
            return f"{_SAMPLER}(class_weights[labels], ...), a weight for each item"
        return "look at how they are made: with equal targets, there is nothing to learn"


class ConstantTargets(Repeated):
    """Targets of batches of a loader that are one number, the same in each batch."""

    at_least = 3

    def find(self, look: Look) -> Iterator[Reason]:
        for op, _, target in compared(look):
            numbers = numbers_at(look, target)
            maker = past_views(target)[0]
            if numbers is None or numbers.size < _ROWS or not isinstance(maker, OpRecord):
                continue
            if maker.name not in _FROM_LOADERS or numbers.min() != numbers.max():
                continue
            file = "" if look.line is None else look.line.file
            sampled = next(iter(calls_of(_SAMPLER, file)), None)
            cut = None if sampled or numbers.any() else _cut_at(file)
            yield OneTarget(
                called(look, target), float(numbers.flat[0]), op.name,
                "sampler" if sampled else "cut" if cut else "",
                source=op.source, other=sampled or cut,
            )  # fmt: skip


def _cut_at(file: str) -> Source | None:
    """Return the line of a file that makes a tensor of integers of variables."""
    lines = [
        line
        for line in calls_with("dtype", file)
        if any("torch.long" in part or "torch.int" in part for part in map(_text, nodes_on(line)))
    ]
    return lines[0] if lines else None


def _text(node: object) -> str:
    return ast.unparse(node) if isinstance(node, ast.Attribute) else ""


@dataclass(frozen=True)
class OneClass(Reason):
    """Each batch has targets of one class only, and the run has several."""

    code = "one-class"
    blames_line = True
    name: str
    classes: int = field(compare=False)
    batches: int = field(compare=False)
    helps = "mix the data: DataLoader(..., shuffle=True)"

    def text(self) -> str:
        return (
            f"each of {self.batches} batches has targets of one class only, and all of them have "
            f"{self.classes}: the data are sorted, so each step forgets what the previous one "
            "learned"
        )


class ClassesOfBatches(Fact):
    """The classes of the targets of batches, by the line of the loss."""

    needs = (Forward, Numbers)

    def __init__(self) -> None:
        self.by_line: dict[Source | None, list[tuple[str, tuple[int, ...], int]]] = {}

    def closely(self, look: Look) -> None:
        for op, _, target in compared(look) if look.is_traced else ():
            if op.name not in OF_CLASSES:
                continue
            numbers = numbers_at(look, target)
            if numbers is None or numbers.dtype.kind not in "iu" or numbers.ndim != 1:
                continue
            known = tuple(np.unique(numbers).tolist())
            self.by_line.setdefault(op.source, []).append(
                (called(look, target), known, numbers.size)
            )


def one_class(facts: Facts) -> Iterator[Reason]:
    """Yield losses of classes whose batches, three at least, of four rows at least, have one class
    each, and not all the same."""
    for line, batches in facts[ClassesOfBatches].by_line.items():
        classes = {known for _, known, _ in batches}
        if (
            len(batches) > 2
            and len(classes) > 1
            and all(len(known) == 1 and size >= _ROWS for _, known, size in batches)
        ):
            yield OneClass(batches[0][0], len(classes), len(batches), source=line)


RULES: Final = (
    Rule(rule_of(ConstantTargets), Meaning(
        "one-target", "warning", "all targets in all batches are the same number",
        "This holds in each call that check looked at (at least three).",
        "torch.tensor([0.2, 0.7], dtype=torch.long)", "torch.tensor([0.2, 0.7])",
        "When the data really are like this.",
    ), needs=(ConstantTargets,)),
    Rule(one_class, Meaning(
        "one-class", "warning", "each batch has only one class, but the run has several",
        "This holds in each call that check looked at.",
        "DataLoader(data, 32)  # data are sorted by class", "DataLoader(data, 32, shuffle=True)",
        "When each batch should contain one class.",
    ), needs=(ClassesOfBatches,)),
)  # fmt: skip
