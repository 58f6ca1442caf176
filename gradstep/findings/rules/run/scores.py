"""Scores of classes that compare what is not to be compared: rows, or an item with itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from gradstep.contract.op_records import LeafRecord, OpRecord, Origin, Record, reachable
from gradstep.findings.facts.repeated import (
    OF_CLASSES,
    Repeated,
    called,
    compared,
    numbers_at,
    rule_of,
    shape_of,
)
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import with_argument
from gradstep.graph.model import Source
from gradstep.recording.look import Look

_ROWS: Final = 4
_KNOWN: Final = 0.95


@dataclass(frozen=True)
class WithItself(Reason):
    """The scores of each row are products with all rows, itself among them."""

    code = "own-diagonal"
    blames_line = True
    other_is = "compared at"
    size: int = field(compare=False)
    by_op: str
    helps = (
        "leave the diagonal out: scores.fill_diagonal_(float('-inf')), or masked_fill() with "
        "torch.eye(n, dtype=torch.bool)"
    )

    def text(self) -> str:
        return (
            f"the largest of the {self.size} scores of each row is on the diagonal, its product "
            "with itself, and it is never a target: the loss can only make all others smaller"
        )


@dataclass(frozen=True)
class OverRows(Reason):
    """A softmax over classes runs over the rows of the batch."""

    code = "softmax-of-rows"
    keeps_loss = False
    blames_line = True
    by_op: str
    rows: int = field(compare=False)

    def text(self) -> str:
        return (
            f"{self.by_op} runs over dimension 0, the {self.rows} rows of the batch, not over the "
            "classes: the rows of a batch share what each should have for itself"
        )

    def remedy(self) -> str:
        return f"use {self.by_op}(..., dim=1), or dim=-1"

    def fix(self) -> tuple[Fix, ...]:
        return with_argument(self.source, self.by_op, "dim", "-1")


@dataclass(frozen=True)
class EqualRows(Reason):
    """All rows of a prediction are equal, though the targets are not."""

    code = "equal-rows"
    blames_line = True
    other_is = "compared at"
    rows: int = field(compare=False)
    by_op: str

    def text(self) -> str:
        return (
            f"all {self.rows} rows of the prediction are equal in all batches, for any input: "
            f"{self.by_op} gives each row of the batch the same numbers"
        )

    def remedy(self) -> str:
        return (
            "compute a mean for each row of the batch, over the other dimensions or over the nodes "
            "that it owns, and not one for the whole batch"
        )


@dataclass(frozen=True)
class NotAhead(Reason):
    """The targets are the inputs themselves."""

    code = "shifted-targets"
    is_hint = True
    blames_line = True
    other_is = "compared at"
    name: str

    def text(self) -> str:
        named = f" {self.name}" if self.name else ""
        return (
            f"the labels{named} at t are the tokens at t: they are not shifted, and the model is "
            "asked for the token that it reads"
        )

    def remedy(self) -> str:
        return "compare the output at t with the token at t + 1: logits[:, :-1] and tokens[:, 1:]"


@dataclass(frozen=True)
class TwoAhead(Reason):
    """The targets are the inputs ``by`` places further on."""

    code = "shifted-targets"
    blames_line = True
    by: int
    name: str

    def text(self) -> str:
        named = f" {self.name}" if self.name else ""
        return (
            f"the labels{named} at t are the tokens at t + {self.by}: they were shifted two "
            "times, and the output is compared with a token that is not the next one"
        )

    def remedy(self) -> str:
        return "shift once: either in the data set or in the loss"


class Scores(Repeated):
    """What the scores of a loss of classes, and its targets, are made of."""

    def find(self, look: Look) -> Iterator[Reason]:
        for op, prediction, target in compared(look):
            numbers, labels = numbers_at(look, prediction), numbers_at(look, target)
            if labels is None:
                continue
            if op.name in OF_CLASSES:
                yield from _along(prediction, op)
                if numbers is not None and numbers.ndim == 2 and labels.ndim == 1:
                    yield from _diagonal(numbers, labels, prediction, op)
                yield from _shift(look, prediction, target, labels, op)
            if numbers is not None and numbers.ndim > 0:
                yield from _equal(numbers, labels, prediction, op)


def _scores(prediction: Origin) -> Origin:
    """Return what a log_softmax is given."""
    record = prediction[0]
    if isinstance(record, OpRecord) and record.name == "log_softmax" and record.inputs:
        first = record.inputs[0]
        return first if isinstance(first, tuple) else prediction
    return prediction


def _along(prediction: Origin, op: OpRecord) -> Iterator[Reason]:
    record = prediction[0]
    if not isinstance(record, OpRecord) or record.name not in ("log_softmax", "log"):
        return
    if record.name == "log" and record.inputs and isinstance(record.inputs[0], tuple):
        record = record.inputs[0][0]
    if not isinstance(record, OpRecord) or record.name not in ("log_softmax", "softmax"):
        return
    shape = shape_of((record, 0))
    if len(shape) == 2 and record.attributes.get("dim") in (0, -2) and shape[0] >= _ROWS:
        yield OverRows(record.name, shape[0], source=record.source)


def _diagonal(numbers: Any, labels: Any, prediction: Origin, op: OpRecord) -> Iterator[Reason]:
    rows, columns = numbers.shape
    if rows != columns or rows < _ROWS or len(labels) != rows:
        return
    places = np.arange(rows)
    if (numbers.argmax(1) == places).all() and not (labels == places).any():
        at = _scores(prediction)[0]
        yield WithItself(rows, op.name, source=at.source, other=op.source)


def _equal(numbers: Any, labels: Any, prediction: Origin, op: OpRecord) -> Iterator[Reason]:
    if len(numbers) < _ROWS or labels.shape[:1] != numbers.shape[:1]:
        return
    if (numbers == numbers[:1]).all() and not (labels == labels[:1]).all():
        behind = [each for each in reachable([prediction[0]]) if isinstance(each, OpRecord)]
        spread = [each for each in behind if each.name in ("expand", "repeat")]
        data = any(not each.requires_grad for each in behind)
        spread = [each for each in spread if shape_of((each, 0))[:1] == numbers.shape[:1]]
        if spread and data:
            yield EqualRows(
                len(numbers), spread[-1].name, source=spread[-1].source, other=op.source
            )


def shifts(
    look: Look, records: Iterable[Record], labels: Any
) -> Iterator[tuple[OpRecord, dict[int, float]]]:
    """Yield the embeddings of tokens, and for each number of places the share of the ``labels``
    that are the tokens so many places further on."""
    for record in records:
        if not isinstance(record, OpRecord) or record.name != "embedding":
            continue
        tokens = [
            each
            for each in record.inputs
            if isinstance(each, tuple) and not each[0].requires_grad and len(shape_of(each)) == 2
        ]
        ids = numbers_at(look, tokens[0]) if tokens else None
        if ids is None or labels.size % len(ids):
            continue
        rows = labels.reshape(len(ids), -1)
        width, length = ids.shape[1], rows.shape[1]
        if length < _ROWS or abs(width - length) > 1 or len(np.unique(rows)) < 3:
            continue
        yield (
            record,
            {
                by: float((ids[:, by : by + length] == rows[:, : width - by]).mean())
                for by in (0, 1, 2)
                if width - by >= _ROWS
            },
        )


def _shift(
    look: Look, prediction: Origin, target: Origin, labels: Any, op: OpRecord
) -> Iterator[Reason]:
    """Yield targets that are the tokens of an embedding, two places on."""
    for _, equal in shifts(look, reachable([prediction[0]]), labels):
        if equal.get(2, 0.0) > _KNOWN > max(equal[0], equal[1]):
            yield TwoAhead(2, called(look, target), source=_line_of(target, op))
        elif equal[0] > _KNOWN > max(equal.get(1, 0.0), equal.get(2, 0.0)):
            # a note: an autoencoder of sentences has them, too
            yield NotAhead(
                called(look, target), is_note=True, source=_line_of(target, op), other=op.source
            )
        return


def _line_of(target: Origin, op: OpRecord) -> Source | None:
    record = target[0]
    return op.source if isinstance(record, LeafRecord) or record.source is None else record.source


RULES: Final = (
    Rule(rule_of(Scores), Meaning(
        "own-diagonal", "warning", "an item is one of its own alternatives",
        "The scores of a row are its products with all rows, and the largest is the product with "
        "itself.",
        "F.cross_entropy(z @ z.T / 0.1, positives)",
        "F.cross_entropy((z @ z.T / 0.1).fill_diagonal_(-1e9), positives)",
        "When an item is a right answer for itself.",
    ), Meaning(
        "softmax-of-rows", "warning", "a softmax over classes runs over the rows of the batch",
        "Its dimension is 0, and the loss has a target for each row.",
        "F.nll_loss(F.log_softmax(h, dim=0), y)", "F.nll_loss(F.log_softmax(h, dim=1), y)",
        "When the rows are alternatives, like the steps of one episode.",
    ), Meaning(
        "equal-rows", "warning", "all rows of a batch get the same prediction",
        "The rows of its targets differ. This holds in all calls that check looked at.",
        "pooled = x.mean(0).expand(n, -1)", "pooled = x.mean(1)",
        "When the inputs are all the same.",
    ), Meaning(
        "shifted-targets", "warning", "labels of a language model are not the next tokens",
        "The label at t is the token at t + 2, or at t, in all batches.",
        "loss(logits[:, :-1], labels[:, 1:])  # labels = tokens[1:]", "loss(logits, labels)",
        "When the model should predict the token after the next one, or copy one.",
    ), needs=(Scores,)),
)  # fmt: skip
