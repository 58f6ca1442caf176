"""Padding that a loss counts as if it were text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from gradstep.contract.op_records import OpRecord
from gradstep.findings.facts.repeated import (
    OF_CLASSES,
    Array,
    Repeated,
    called,
    compared,
    numbers_at,
    past_views,
    rule_of,
    shape_of,
)
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.recording.look import Look

_SAME_ORDER: Final = (
    "view", "reshape", "_unsafe_view", "flatten", "squeeze", "clone", "to", "cast", "_to_copy",
    "contiguous",
)  # fmt: skip
_NONE: Final = (0, "none")
_SHARE: Final = 0.1
_ROWS: Final = 4


@dataclass(frozen=True)
class PaddingCounted(Reason):
    """A ``share`` of the targets is the ``number`` that fills up rows, which the loss counts."""

    code = "padding-counted"
    blames_line = True
    name: str
    number: int
    share: float = field(compare=False)

    def text(self) -> str:
        whose = f"the targets {self.name}" if self.name else "the targets"
        return (
            f"{self.share:.0%} of {whose} are {self.number}, which only fills up rows of different "
            "length: the loss counts this padding like all other targets"
        )

    def remedy(self) -> str:
        return f"cross_entropy(..., ignore_index={self.number})"


class Padding(Repeated):
    """Losses of classes whose targets are rows that end with one number, in different lengths."""

    share = 0.7  # rows of a batch may be equally long

    def find(self, look: Look) -> Iterator[Reason]:
        for op, _, target in compared(look):
            at = op.attributes
            if op.name not in OF_CLASSES or at.get("reduction", 1) in _NONE or _has_weights(op):
                continue
            numbers = numbers_at(look, target)
            shape = shape_of(past_views(target, _SAME_ORDER))
            rows = None if numbers is None else numbers.reshape(shape)
            number = None if rows is None else padding_of(rows)
            if rows is None or number is None or number == at.get("ignore_index", -100):
                continue
            amount = float((rows == number).mean())
            if amount >= _SHARE:
                yield PaddingCounted(called(look, target), number, amount, source=op.source)


def _has_weights(op: OpRecord) -> bool:
    """Return whether classes have weights, of which one may be 0."""
    return len([each for each in op.inputs if isinstance(each, tuple)]) > 2


def padding_of(rows: Array) -> int | None:
    """Return the number with which rows end that are filled up, and which they have nowhere else;
    None where they are not.

    >>> padding_of(np.array([[3, 4, 0, 0], [5, 0, 0, 0], [6, 7, 8, 9], [1, 0, 0, 0]]))
    0
    """
    if rows.ndim != 2 or rows.dtype.kind not in "iu" or len(rows) < _ROWS:
        return None
    ends, counts = np.unique(rows[:, -1], return_counts=True)
    number = int(ends[counts.argmax()])
    is_number = rows == number
    lengths = is_number[:, ::-1].cumprod(axis=1).sum(axis=1)
    several = lengths > 1
    if several.sum() * 3 < len(rows) or len(np.unique(lengths)) < 3:
        return None
    return number if is_number.sum() == lengths.sum() else None


RULES: Final = (
    Rule(rule_of(Padding), Meaning(
        "padding-counted", "warning", "a loss counts padding",
        "At least 10% of the targets of a classification are a number that occurs only at the ends "
        "of rows, in different lengths. This holds in most calls that check looked at "
        "(at least two).",
        "F.cross_entropy(scores.flatten(0, 1), tokens.flatten())",
        "F.cross_entropy(scores.flatten(0, 1), tokens.flatten(), ignore_index=PAD)",
        "When the model should learn to predict what fills up rows.",
    ), needs=(Padding,)),
)  # fmt: skip
