"""Infinities of half precision that do not reach the loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from gradstep.capturing.forward_values import ForwardValues, inputs_of, outputs_of
from gradstep.contract.op_records import OpRecord
from gradstep.findings.facts import Forward, Numbers
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.rules.graph.finite import Amount, amount_of
from gradstep.findings.rules.graph.subject import Subject

_HALF: Final = ("float16", "half")
_INFINITE: Final = ("masked_fill", "where", "full_like", "div", "reciprocal", "log", "pow")
"""Ops that make infinities of small numbers, or on purpose."""


@dataclass(frozen=True)
class Overflow(Reason):
    """A result is too large for float16, in ``amount`` of its places."""

    code = "overflow"
    name: str
    amount: Amount = field(compare=False)

    def text(self) -> str:
        return (
            f"the result of {self.name} is too large for float16: {self.amount}, and what divides "
            "by it becomes 0"
        )

    def remedy(self) -> str:
        return f"compute it in float32: {self.name} of x.float()"


def find_overflow(subject: Subject) -> Iterator[Reason]:
    """Yield the first op in float16 whose inputs are finite and whose result is too large for it,
    where the loss is finite: 1 / inf is 0, and hides it."""
    halves = [
        record
        for record in subject.records
        if isinstance(record, OpRecord) and record.dtype in _HALF and not _is_infinite(record)
    ]
    if not halves:
        return
    values = ForwardValues(subject.engine.reading, subject.origins)
    for record in halves:
        for origin in outputs_of(record):
            known = values.statistics(origin)
            given = [values.statistics(source) for source in inputs_of(origin)]
            if (
                known is not None
                and known.amount("inf")
                and all(stats is not None and not stats.trouble for stats in given)
            ):
                amount = amount_of(known, "inf", values.array(origin))
                yield Overflow(record.name, amount, source=record.source)
                return


def _is_infinite(record: OpRecord) -> bool:
    """Return whether an op may make infinities of numbers that are not large."""
    grows = record.name == "pow" and isinstance(n := record.inputs[-1], int | float) and n > 1
    return record.name in _INFINITE and not grows


RULES: Final = (
    Rule(find_overflow, Meaning(
        "overflow", "warning", "a result is too large for float16, and the loss does not show it",
        "Its inputs are finite, and it is infinite. 1 / inf is 0.",
        "unit = h / (h * h).sum().sqrt()", "unit = h / (h.float() ** 2).sum().sqrt()",
        "When the resulting factor should be 0 there.",
    ), needs=(Forward, Numbers)),
)  # fmt: skip
