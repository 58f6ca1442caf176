"""What a loss is a sum of, as the forward pass tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from gradstep.contract.op_records import LeafRecord, OpRecord, Record

_SUMS: Final = ("add", "sub", "rsub")
_SCALING: Final = ("mul", "div")
_LINEAR: Final = (
    "mean", "sum", "neg", "view", "reshape", "squeeze", "unsqueeze", "flatten", "clone", "to",
    "cast", "stack",
)  # fmt: skip


class Terms(NamedTuple):
    """The terms of a loss that have a graph, without what only scales or averages them; and the
    numbers without one that are added to them."""

    learning: list[OpRecord]
    constant: list[OpRecord]


def terms_of(roots: Iterable[Record]) -> Terms:
    """Return what the roots are sums of."""
    terms = Terms([], [])
    stack = [root for root in roots if isinstance(root, OpRecord)]
    seen: set[Record] = set()
    while stack:
        record = stack.pop()
        if record in seen:
            continue
        seen.add(record)
        given = [value[0] for value in record.inputs if isinstance(value, tuple)]
        learning = [maker for maker in given if maker.requires_grad]
        others = [
            maker for maker in given if not maker.requires_grad and isinstance(maker, OpRecord)
        ]
        if record.name in _SUMS:
            terms.constant.extend(other for other in others if _is_number(other))
        elif record.name not in _LINEAR and (record.name not in _SCALING or len(learning) > 1):
            terms.learning.append(record)
            continue
        ops = [maker for maker in learning if isinstance(maker, OpRecord)]
        if len(ops) < len(learning):
            terms.learning.append(record)  # a leaf itself
        stack += ops
    return terms


def _is_number(record: OpRecord) -> bool:
    return bool(record.shapes) and all(size == 1 for size in record.shapes[0])


def learning_leaves(record: Record) -> set[LeafRecord]:
    """Return the leaves to which a gradient flows back from a record."""
    return {maker for maker in _learning(record) if isinstance(maker, LeafRecord)}


def _learning(record: Record) -> Iterator[Record]:
    stack, seen = [record], {record}
    while stack:
        at = stack.pop()
        yield at
        if isinstance(at, OpRecord):
            for value in at.inputs:
                if isinstance(value, tuple) and value[0].requires_grad and value[0] not in seen:
                    seen.add(value[0])
                    stack.append(value[0])
