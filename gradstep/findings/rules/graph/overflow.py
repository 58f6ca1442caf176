"""Infinities of half precision that do not reach the loss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gradstep.capturing.forward_values import ForwardValues, inputs_of, outputs_of
from gradstep.contract.op_records import OpRecord
from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.rules.graph.finite import amount_text
from gradstep.findings.rules.graph.subject import Subject

_HALF: Final = ("float16", "half")
_INFINITE: Final = ("masked_fill", "where", "full_like", "div", "reciprocal", "log", "pow")
"""Ops that make infinities of small numbers, or on purpose."""


def find_overflow(subject: Subject) -> Iterator[Finding]:
    """Yield the first op in float16 whose inputs are finite and whose result is too large for it,
    where the loss is finite: 1 / inf is 0, and hides it."""
    halves = [
        record
        for record in subject.records
        if isinstance(record, OpRecord) and record.dtype in _HALF and record.name not in _INFINITE
    ]
    if not halves:
        return
    values = ForwardValues(subject.engine, subject.origins)
    for record in halves:
        for origin in outputs_of(record):
            known = values.statistics(origin)
            given = [values.statistics(source) for source in inputs_of(origin)]
            if (
                known is not None
                and known.amount("inf")
                and all(stats is not None and not stats.trouble for stats in given)
            ):
                how_many = amount_text(known, "inf", values.array(origin))
                yield Finding(
                    "warning", "overflow",
                    f"the result of {record.name} is too large for float16: {how_many}, and what "
                    "divides by it becomes 0",
                    f"compute it in float32: {record.name} of x.float()",
                    source=record.source,
                )  # fmt: skip
                return


RULES: Final = (
    Rule(find_overflow, Meaning(
        "overflow", "warning", "a result is too large for float16, and the loss does not show it",
        "Its inputs are finite, and it is infinite. 1 / inf is 0.",
        "unit = h / (h * h).sum().sqrt()", "unit = h / (h.float() ** 2).sum().sqrt()",
    )),
)  # fmt: skip
