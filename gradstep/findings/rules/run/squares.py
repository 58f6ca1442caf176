"""A column and a row that became a matrix where no gradient goes: in an advantage or a target."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from gradstep.contract.op_records import OpRecord, Origin
from gradstep.findings.facts.repeated import Repeated, past_views, rule_of, shape_of
from gradstep.findings.finding import Reason, Rule
from gradstep.graph.statistics import format_shape
from gradstep.recording.look import Look

_POINTWISE: Final = ("add", "sub", "rsub", "mul", "div")
_ADDED_UP: Final = (*_POINTWISE, "mean", "sum", "neg", "pow", "square", "to", "cast", "detach")
_ROWS: Final = 4


@dataclass(frozen=True)
class AdvantageIsSquare(Reason):
    """An op without a gradient makes a matrix of a column and a row."""

    code = "broadcast"
    blames_line = True
    helps = "give both the same shape: squeeze(1) one, or unsqueeze(1) the other"
    size: int = field(compare=False)
    by_op: str

    def text(self) -> str:
        n = self.size
        return (
            f"{self.by_op} broadcasts {format_shape((n,))} with {format_shape((n, 1))}: its result "
            f"has {n**2:,} elements, one for every pair, instead of {n:,}, and the loss is the "
            "mean over all of them"
        )


class Squares(Repeated):
    """Matrices that pointwise ops without a gradient make of a row and a column, and of which only
    sums and means are taken."""

    def find(self, look: Look) -> Iterator[Reason]:
        records = [each for each in look.records if isinstance(each, OpRecord)]
        users: dict[OpRecord, list[OpRecord]] = {}
        for record in records:
            for origin in record.inputs:
                if isinstance(origin, tuple) and isinstance(origin[0], OpRecord):
                    users.setdefault(origin[0], []).append(record)
        for record in records:
            given = [each for each in record.inputs if isinstance(each, tuple)]
            ends = users.get(record, ())  # of what has a gradient, another rule tells
            is_cut = not record.requires_grad or all(each.name == "detach" for each in ends)
            if record.name in _POINTWISE and is_cut and len(given) == 2:
                size = _square_of(given)
                if size and _is_added_up(record, users):
                    yield AdvantageIsSquare(size, record.name, source=record.source)


def _square_of(given: list[Origin]) -> int:
    """Return how long a row and a column are, 0 where they are none, or views of one tensor."""
    row, column = sorted(map(shape_of, given), key=len)
    is_square = len(row) == 1 and column == (*row, 1) and row[0] >= _ROWS
    return row[0] if is_square and past_views(given[0]) != past_views(given[1]) else 0


def _is_added_up(record: OpRecord, users: dict[OpRecord, list[OpRecord]]) -> bool:
    """Return whether the loss is made of a matrix by pointwise ops, and a sum or a mean."""
    stack, seen = [record], {record}
    while stack:
        at = stack.pop()
        if len(shape_of((at, 0))) < 2:
            if at is record or at.attributes.get("dim") not in (None, [], [0, 1]):
                return False
            continue
        for user in users.get(at, ()):
            if user.name not in _ADDED_UP:
                return False
            if user not in seen:
                seen.add(user)
                stack.append(user)
    return len(seen) > 1


RULES: Final = (Rule(rule_of(Squares), needs=(Squares,), code="broadcast"),)
