"""Where a NaN or an infinity began in the forward pass; no gradient can be right behind it.

Needs what ``trace(values=True)`` left behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from autograd_core.dag.statistics import Statistics, statistics
from autograd_core.dag.trace.records import OpRecord, Record
from autograd_core.debug.linting.finding import Finding, listed
from autograd_core.debug.linting.subject import Subject

Trouble = Literal["nan", "inf"]


def find_not_finite(subject: Subject) -> Iterator[Finding]:
    """The first op that gave NaN; the first that gave an infinity, where the loss is infinite:
    masks are infinite on purpose, and leave the loss finite."""
    roots = [t.record[0] for t in subject.roots if isinstance(t.record, tuple)]
    for trouble in ("nan", "inf"):
        if trouble == "inf" and not any(_has(root, "inf") for root in roots):
            return
        record = _first(subject.records, trouble)
        if record is not None:
            yield _finding(subject, record, trouble)
            return


def _first(records: Iterable[Record], trouble: Trouble) -> OpRecord | None:
    for record in records:
        if isinstance(record, OpRecord) and _has(record, trouble):
            inputs = [each[0] for each in record.inputs if isinstance(each, tuple)]
            if not any(isinstance(each, OpRecord) and _has(each, trouble) for each in inputs):
                return record
    return None


def _has(record: Record, trouble: Trouble) -> bool:
    return bool(_count(record.statistics, trouble))


def _count(known: Statistics | None, trouble: Trouble) -> int:
    return 0 if known is None else known.nans if trouble == "nan" else known.infs


def _finding(subject: Subject, record: OpRecord, trouble: Trouble) -> Finding:
    index = next((k for k, node in enumerate(subject.order) if node.record is record), None)
    address = "" if index is None else subject.graph.address(index)
    what = f"{address or record.name} gives {_amount(record.statistics, trouble)}"
    given = [*_given(subject, record)]
    if given:
        what += f", and is given {listed(given)}"
        remedy = "look where these values come from"
    else:
        what += " in the forward pass, the first to do so"
        remedy = "look at what it is given there; no gradient behind it can be right"
    return Finding("warning", "not-finite", what, remedy, address, index, record.source)


def _amount(known: Statistics | None, trouble: Trouble) -> str:
    size = 1 if known is None else known.size
    return trouble if size == 1 else f"{trouble} at {_count(known, trouble):,} of {size:,} places"


def _given(subject: Subject, record: OpRecord) -> Iterator[str]:
    """The inputs that are not finite themselves."""
    for each in record.inputs:
        if not isinstance(each, tuple):
            continue
        known, name = each[0].statistics, "a tensor"
        if isinstance(each[0], OpRecord):
            name = f"the result of {each[0].name}"
        elif (tensor := each[0].tensor()) is not None:
            known, name = statistics(tensor.array), subject.names.of(tensor) or name
        if known is not None and known.trouble:
            yield f"{name} with {_amount(known, known.trouble)}"
