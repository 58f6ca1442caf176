"""Numbers whose last digits are lost: too large for their dtype, or differences of large ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import isfinite, log2
from typing import Final

from gradstep.contract.op_records import OpRecord
from gradstep.findings.facts.repeated import Repeated, rule_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.graph.statistics import format_number
from gradstep.recording.look import Look

_DIGITS: Final = {"float32": 24, "float64": 53}
_LEVELS: Final = 1000
_LOST: Final = 32.0
_FEW: Final = 8


def spacing(number: float, dtype: str) -> float:
    """Return how far numbers of a dtype are apart at ``number``.

    >>> spacing(1.7e9, "float32")
    128.0
    """
    return 2.0 ** (int(log2(abs(number))) + 1 - _DIGITS[dtype])


@dataclass(frozen=True)
class TooCoarse(Reason):
    """Numbers of a dtype are so large that few differ of those in their range."""

    code = "coarse-numbers"
    blames_line = True
    by_op: str
    dtype: str
    largest: float = field(compare=False)
    range: float = field(compare=False)
    apart: float = field(compare=False)

    def text(self) -> str:
        return (
            f"{self.dtype} numbers of {format_number(self.largest)} are "
            f"{format_number(self.apart)} apart, and these have a range of "
            f"{format_number(self.range)}: different ones are rounded to the same number"
        )

    def remedy(self) -> str:
        return (
            "subtract an offset, or reduce periodic values, before this becomes float32; or keep "
            "it in float64 until then"
        )


@dataclass(frozen=True)
class Cancelled(Reason):
    """A difference is as small as the rounding of what it is made of."""

    code = "cancelled"
    blames_line = True
    dtype: str
    size: float = field(compare=False)
    left: float = field(compare=False)
    apart: float = field(compare=False)

    def text(self) -> str:
        return (
            f"a difference of {format_number(self.left)} is computed from {self.dtype} numbers of "
            f"{format_number(self.size)}, which are {format_number(self.apart)} apart: its digits "
            "cancel, and what is left is rounding"
        )

    def remedy(self) -> str:
        return (
            "compute the difference first: a variance as ((x - x.mean(0)) ** 2).mean(0), not as "
            "(x ** 2).mean(0) - x.mean(0) ** 2; or use float64 here"
        )


class Coarse(Repeated):
    """Values without a gradient whose range holds fewer than a thousand numbers of their dtype;
    differences that are no larger than the rounding of their operands."""

    def find(self, look: Look) -> Iterator[Reason]:
        for record in look.records:
            if not isinstance(record, OpRecord) or record.dtype not in _DIGITS:
                continue
            known = record.statistics
            if known is None or known.size < _FEW or known.trouble:
                if record.name in ("sub", "rsub") and known is not None and not known.trouble:
                    yield from _cancelled(record)
                continue
            largest, width = (
                max(abs(known.minimum), abs(known.maximum)),
                known.maximum - known.minimum,
            )
            if record.requires_grad or not largest or not width or not isfinite(width):
                continue
            apart = spacing(largest, record.dtype)
            if width < _LEVELS * apart and record.dtype == "float32" and width > 1:
                yield TooCoarse(
                    record.name, record.dtype, largest, width, apart, source=record.source
                )
                return
        for record in look.records:
            if isinstance(record, OpRecord) and record.name in ("sub", "rsub"):
                yield from _cancelled(record)


def _cancelled(record: OpRecord) -> Iterator[Reason]:
    """Yield a difference of two tensors of one size that is next to nothing, and not 0."""
    known = record.statistics
    sizes = [
        each[0].statistics.rms
        for each in record.inputs
        if isinstance(each, tuple)
        and each[1] == 0
        and isinstance(each[0], OpRecord)
        and each[0].statistics is not None
        and each[0].dtype == record.dtype
        and not each[0].statistics.trouble
    ]
    if known is None or not known.rms or len(sizes) != 2 or record.dtype not in _DIGITS:
        return
    if record.dtype != "float32" or not min(sizes) or max(sizes) > 1.01 * min(sizes):
        return
    apart = spacing(min(sizes), record.dtype)
    if known.rms < _LOST * apart and min(sizes) > 1:
        yield Cancelled(record.dtype, min(sizes), known.rms, apart, source=record.source)


RULES: Final = (
    Rule(rule_of(Coarse), Meaning(
        "coarse-numbers", "warning", "numbers are too large for their dtype to tell them apart",
        "The dtype has fewer than 1,000 numbers in the range of a batch.",
        "seconds_since_1970.float()", "(seconds_since_1970 - start).float()",
        "When only whole numbers matter.",
    ), Meaning(
        "cancelled", "warning", "a small difference of large numbers is only rounding",
        "It is at most 32 times the rounding error of their dtype.",
        "(x * x).mean(0) - x.mean(0) ** 2", "((x - x.mean(0)) ** 2).mean(0)",
        "When the difference should be 0 except for rounding.",
    ), needs=(Coarse,)),
)  # fmt: skip
