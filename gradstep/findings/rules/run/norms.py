"""Norms that are taken over the rows of a batch, where each row is to have its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from linecache import getline
from typing import Final, Literal

from gradstep.contract.op_records import OpRecord, Origin
from gradstep.findings.facts.provenance import inputs_of
from gradstep.findings.facts.repeated import Repeated, past_views, rule_of, shape_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.recording.look import Look

_NORMS: Final = ("vector_norm", "linalg_vector_norm", "norm", "frobenius_norm")
_ROWS: Final = 4


@dataclass(frozen=True)
class NormOfRows(Reason):
    """A norm runs over the ``rows`` of a batch: each column is divided by its own, or a penalty
    compares one for ``all`` with a number."""

    code = "norm-of-rows"
    keeps_loss = False
    blames_line = True
    over: Literal["columns", "all"]
    shape: tuple[int, ...] = field(compare=False)

    def text(self) -> str:
        rows, shape = self.shape[0], list(self.shape)
        if self.over == "all":
            return (
                f"norm() of {shape} is one number for all {rows} rows of the batch, and a number "
                "is subtracted from it: rows are not compared with it one by one"
            )
        return (
            f"normalize() of {shape} runs over dimension 0, the {rows} rows of the batch: it "
            "makes columns of length 1, and what a row is depends on the others"
        )

    def remedy(self) -> str:
        return "take the norm of each row: dim=1"


class Norms(Repeated):
    """Norms over dimension 0, or over all, of values that come from data with as many rows."""

    def find(self, look: Look) -> Iterator[Reason]:
        rows = {shape_of(each)[0] for each in inputs_of(look)}
        norms: dict[OpRecord, Origin] = {}
        for record in look.records:
            if not isinstance(record, OpRecord) or not record.requires_grad:
                continue
            given = next((each for each in record.inputs if isinstance(each, tuple)), None)
            if given is None:
                continue
            shape = shape_of(given)
            maker = past_views(given)[0]
            is_norm = record.name in _NORMS and isinstance(maker, OpRecord)
            if is_norm and len(shape) == 2 and shape[0] in rows and shape[0] >= _ROWS:
                if shape[1] > 1 and shape[0] != shape[1]:
                    norms[record] = given
                    if _dims(record) == (0,) and _is_on_line(record, "normalize("):
                        yield NormOfRows("columns", shape, source=record.source)
            elif record.name in ("sub", "rsub") and past_views(given)[0] in norms:
                norm = past_views(given)[0]
                number = next((each for each in record.inputs if isinstance(each, int | float)), 0)
                if isinstance(norm, OpRecord) and not shape and number:
                    of = shape_of(norms[norm])
                    yield NormOfRows("all", of, source=norm.source)


def _dims(record: OpRecord) -> tuple[int, ...]:
    dims = record.attributes.get("dim")
    if isinstance(dims, int):
        return (dims,)
    return tuple(dims) if isinstance(dims, list | tuple) else ()


def _is_on_line(record: OpRecord, text: str) -> bool:
    return record.source is not None and text in getline(*record.source)


RULES: Final = (
    Rule(rule_of(Norms), Meaning(
        "norm-of-rows", "warning", "a norm runs over the rows of a batch",
        "normalize() divides columns by their norm, or a penalty compares the norm of all rows "
        "together with a number. This holds in each call that check looked at (at least two).",
        "(grads.norm() - 1) ** 2", "((grads.norm(dim=1) - 1) ** 2).mean()",
        "When the columns are what should have length 1.",
    ), needs=(Norms,)),
)  # fmt: skip
