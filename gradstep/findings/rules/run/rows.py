"""Dimensions that are mixed up: a recurrent module that runs along the rows of a batch, and a
reshape where a transposition was meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from gradstep.capturing.statement import operation_at
from gradstep.contract.module_paths import joined, named_modules
from gradstep.contract.op_records import OpRecord, Origin
from gradstep.findings.facts.repeated import (
    RANDOM,
    Repeated,
    compared,
    past_views,
    rule_of,
    shape_of,
)
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import with_argument, with_operation
from gradstep.findings.source_lines import calls_of
from gradstep.graph.statistics import format_shape
from gradstep.guest.fence import attribute_of
from gradstep.recording.look import Look

_RECURRENT: Final = ("GRU", "LSTM", "RNN")
_RESHAPES: Final = ("view", "reshape", "_unsafe_view", "unsafe_view")
_WRITTEN: Final = ("reshape", "view")


@dataclass(frozen=True)
class AlongRows(Reason):
    """A recurrent ``module`` takes the rows of a batch for times."""

    code = "rows-mixed"
    keeps_loss = False
    blames_line = True
    other_is = "made at"
    module: str
    kind: str
    rows: int = field(compare=False)
    times: int = field(compare=False)

    def text(self) -> str:
        return (
            f"{self.module} runs along the {self.rows} rows of the batch and not along their "
            f"{self.times} times: batch_first is False, so dimension 0 of its input is time, and "
            "each row depends on those before it"
        )

    def remedy(self) -> str:
        return f"nn.{self.kind}(..., batch_first=True)"

    def fix(self) -> tuple[Fix, ...]:
        return with_argument(self.other, self.kind, "batch_first", "True")


@dataclass(frozen=True)
class Reshaped(Reason):
    """A reshape has the ``sizes`` that a transposition would have."""

    code = "not-transposed"
    keeps_loss = False
    blames_line = True
    before: tuple[int, ...] = field(compare=False)
    sizes: tuple[int, ...] = field(compare=False)

    def text(self) -> str:
        return (
            f"{format_shape(self.before)} is reshaped to {format_shape(self.sizes)}: that keeps "
            "the order of the numbers and only cuts it elsewhere, so what belongs to one row or "
            "channel is spread over others"
        )

    def remedy(self) -> str:
        return "move dimensions with permute() or transpose(), and reshape after that"

    def fix(self) -> tuple[Fix, ...]:
        left, order = dict(enumerate(self.before)), []
        if self.source is None or sorted(self.sizes) != sorted(self.before):
            return ()
        for size in self.sizes:  # dimensions of one size, as of a square image, keep their order
            dim = next(dim for dim, own in left.items() if own == size)
            order.append(str(dim))
            del left[dim]
        op = next((op for op in _WRITTEN if operation_at(self.source, op) is not None), "")
        return with_operation(self.source, op, f"{{0}}.permute({', '.join(order)})") if op else ()


class Rows(Repeated):
    """What becomes of the dimensions of a batch."""

    share = 0.5  # a batch may have been made while nothing was traced

    def find(self, look: Look) -> Iterator[Reason]:
        rows = {shape_of(target)[0] for _, _, target in compared(look) if shape_of(target)}
        for record in look.records:
            if not isinstance(record, OpRecord) or not record.inputs:
                continue
            given = record.inputs[0]
            if not isinstance(given, tuple):
                continue
            if record.name == "select" and record.attributes.get("dim") == 1:
                yield from _along(look, given, record, rows)
            elif record.name in _RESHAPES:
                yield from _reshaped(given, record, rows)


def _along(look: Look, given: Origin, record: OpRecord, rows: set[int]) -> Iterator[Reason]:
    """Yield a recurrent module of whose results, one for each row of the targets, a time is taken
    from dimension 1."""
    shape = shape_of(given)
    if len(shape) != 3 or shape[0] not in rows or shape[0] == shape[1]:
        return
    origin = past_views(given)[0]
    path = look.names.scope(origin.scope)
    module = _modules(look).get(path)
    kind = type(module).__name__
    if kind in _RECURRENT and attribute_of(module, "batch_first") is False:
        made = calls_of(kind, look.line.file) if look.line is not None else []
        yield AlongRows(
            path, kind, shape[0], shape[1], source=record.source, other=made[0] if made else None
        )


def _modules(look: Look) -> dict[str, Any]:
    known: dict[str, Any] | None = look.kept.get("modules")
    if known is None:
        known = look.kept["modules"] = {
            joined(name, path): module
            for name, outermost in look.names.modules.items()
            for path, module in named_modules(outermost)
        }
        if len(look.names.modules) == 1:  # its name is left out of the paths
            known.update((path.partition(".")[2], module) for path, module in [*known.items()])
    return known


def _reshaped(given: Origin, record: OpRecord, rows: set[int]) -> Iterator[Reason]:
    """Yield a reshape to the same sizes in another order, or one that has the rows of the targets
    first, which came second."""
    before, after = shape_of(given), shape_of((record, 0))
    long, made = [size for size in before if size != 1], [size for size in after if size != 1]
    is_permuted = long != made and sorted(long) == sorted(made)
    is_joined = (
        len(long) > len(made) > 0
        and long[1] == made[0] != long[0]
        and made[0] in rows
        and len(long) > 2
    )
    source = past_views(given)[0]
    is_noise = isinstance(source, OpRecord) and source.name in RANDOM
    if (is_permuted or is_joined) and not is_noise:
        yield Reshaped(before, after, source=record.source)


RULES: Final = (
    Rule(rule_of(Rows), Meaning(
        "rows-mixed", "warning", "a recurrent module runs along the rows of a batch",
        "Its dimension 0, which is time, has the rows of the targets, and the "
        "program takes a time from dimension 1.",
        "nn.GRU(3, 16)(x)[0][:, -1]", "nn.GRU(3, 16, batch_first=True)(x)[0][:, -1]",
        "When the rows are one sequence, in order.",
    ), Meaning(
        "not-transposed", "warning", "a reshape is used where dimensions should move",
        "It has the same sizes in another order, or puts the rows of the "
        "targets first, which were second.",
        "image.reshape(3, 16, 16)  # [16, 16, 3]", "image.permute(2, 0, 1)",
        "When the numbers have no order yet, like noise.",
    ), needs=(Rows,)),
)  # fmt: skip
