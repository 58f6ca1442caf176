"""What a loss is a sum of, as the forward pass tells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from gradstep.capturing.op_records import LeafRecord, OpRecord, Record

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
    found = Terms([], [])
    stack = [each for each in roots if isinstance(each, OpRecord)]
    seen: set[Record] = set()
    while stack:
        record = stack.pop()
        if record in seen:
            continue
        seen.add(record)
        given = [each[0] for each in record.inputs if isinstance(each, tuple)]
        learning = [each for each in given if each.requires_grad]
        others = [each for each in given if not each.requires_grad and isinstance(each, OpRecord)]
        if record.name in _SUMS:
            found.constant.extend(each for each in others if _is_number(each))
        elif record.name not in _LINEAR and (record.name not in _SCALING or len(learning) > 1):
            found.learning.append(record)
            continue
        ops = [each for each in learning if isinstance(each, OpRecord)]
        if len(ops) < len(learning):
            found.learning.append(record)  # a leaf itself
        stack += ops
    return found


def _is_number(record: OpRecord) -> bool:
    return bool(record.shapes) and all(size == 1 for size in record.shapes[0])


def learning_leaves(record: Record) -> set[Record]:
    """Return the leaves to which a gradient flows back from a record."""
    return {each for each in _learning(record) if isinstance(each, LeafRecord)}


def _learning(record: Record) -> Iterator[Record]:
    stack, seen = [record], {record}
    while stack:
        at = stack.pop()
        yield at
        if isinstance(at, OpRecord):
            for each in at.inputs:
                if isinstance(each, tuple) and each[0].requires_grad and each[0] not in seen:
                    seen.add(each[0])
                    stack.append(each[0])
