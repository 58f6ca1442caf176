"""Weights, masks and labels that a program gives to an op, and that do not do there what they are
for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from linecache import getline
from typing import Final

import numpy as np

from gradstep.contract.op_records import OpRecord, Origin
from gradstep.findings.facts.repeated import (
    LOSSES,
    Array,
    Repeated,
    called,
    is_data,
    numbers_at,
    past_views,
    rule_of,
    shape_of,
)
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.source_lines import calls_of
from gradstep.recording.look import Look

_REDUCED: Final = ("mean", "sum", *LOSSES)
_MANY: Final = 0.3
_SOFTMAX: Final = ("softmax", "log_softmax")


@dataclass(frozen=True)
class WeightsCancel(Reason):
    """A loss is reduced to one number before weights for its ``rows`` multiply it."""

    code = "weights-cancel"
    keeps_loss = False
    blames_line = True
    other_is = "reduced at"
    name: str
    rows: int = field(compare=False)

    def text(self) -> str:
        weights = self.name or "the weights"
        return (
            f"{weights} has a weight for each of {self.rows} rows, and multiplies a loss that is "
            f"one number by then: all rows count the same, and the mean of {weights} scales the "
            "whole loss"
        )

    def remedy(self) -> str:
        return 'keep a loss for each row until the weights have multiplied it: reduction="none"'


class CancelledWeights(Repeated):
    """Products of a reduced loss and one number for each of its rows."""

    def find(self, look: Look) -> Iterator[Reason]:
        reduced = {
            record.inputs[0][0]
            for record in look.records
            if isinstance(record, OpRecord) and record.name in ("mean", "sum")
            and record.inputs and isinstance(record.inputs[0], tuple)
        }  # fmt: skip
        for record, learning, data in _products(look):
            maker = past_views(learning)[0]
            if record not in reduced or shape_of(learning) or not isinstance(maker, OpRecord):
                continue
            given = next((each for each in maker.inputs if isinstance(each, tuple)), None)
            rows = shape_of(given)[:1] if given is not None else ()
            shape = shape_of(data)
            if maker.name not in _REDUCED or not rows or shape[:1] != rows or rows[0] < 2:
                continue
            weights = numbers_at(look, data)
            if weights is not None and weights.size == rows[0] and np.ptp(weights) > 0:
                name = called(look, data)
                yield WeightsCancel(name, rows[0], source=record.source, other=maker.source)


@dataclass(frozen=True)
class MaskedByZero(Reason):
    """A mask multiplies scores before a ``softmax``."""

    code = "masked-by-zero"
    keeps_loss = False
    blames_line = True
    other_is = "softmax at"
    mask: str
    by_op: str
    share: float = field(compare=False)

    def text(self) -> str:
        return (
            f"{self.mask or 'a mask'} multiplies scores before {self.by_op}, and makes them 0, "
            f"which is a score like others: what is masked has {self.share:.0%} of the weight"
        )

    def remedy(self) -> str:
        mask = self.mask or "mask"
        return f'scores.masked_fill({mask} == 0, float("-inf")) leaves them out'


class MaskedScores(Repeated):
    """Products of scores and a mask of zeros and ones that go into a softmax, whose result nobody
    masks again."""

    def find(self, look: Look) -> Iterator[Reason]:
        products = {record: data for record, _, data in _products(look)}
        later: dict[object, list[Origin]] = {}
        for _, learning, data in _products(look):
            later.setdefault(past_views(learning)[0], []).append(data)
        for record in look.records:
            if not isinstance(record, OpRecord) or record.name not in _SOFTMAX:
                continue
            given = record.inputs[0] if record.inputs else None
            maker = past_views(given)[0] if isinstance(given, tuple) else None
            if not isinstance(maker, OpRecord) or maker not in products:
                continue
            weights = numbers_at(look, (record, 0))
            mask = None if weights is None else _spread(look, products[maker], weights.shape)
            if mask is None or weights is None or not _is_mask(mask):
                continue
            kept, dim = mask.astype(bool), int(record.attributes.get("dim", -1))
            if not (kept.any(dim) & ~kept.all(dim)).any():
                continue  # it masks whole rows
            others = (_spread(look, data, kept.shape) for data in later.get(record, ()))
            if any(other is None or not other[~kept].any() for other in others):
                continue  # what is masked is left out then, as far as is known
            share = np.exp(weights) if record.name == "log_softmax" else weights
            name = called(look, products[maker])
            masked = float(share[~kept].sum() / share.sum())
            yield MaskedByZero(name, record.name, masked, source=maker.source, other=record.source)


@dataclass(frozen=True)
class MaskedMean(Reason):
    """A mean is taken over all places of what a mask has made 0 at a ``share`` of them."""

    code = "masked-mean"
    severity = "info"
    keeps_loss = False
    blames_line = True
    other_is = "masked at"
    mask: str
    share: float = field(compare=False)

    def text(self) -> str:
        return (
            f"mean() divides by all places, and {self.mask or 'a mask'} is 0 at {self.share:.0%} "
            "of them: the more a batch has, the less its loss counts"
        )

    def remedy(self) -> str:
        mask = self.mask or "mask"
        return f"divide the sum by what the mask leaves: (loss * {mask}).sum() / {mask}.sum()"


class MaskedMeans(Repeated):
    """Means over all places of the product of a value and a mask, mostly of zeros."""

    def find(self, look: Look) -> Iterator[Reason]:
        products = {record: data for record, _, data in _products(look)}
        for record in look.records:
            if not isinstance(record, OpRecord) or record.name != "mean" or not record.inputs:
                continue
            maker = past_views(record.inputs[0])[0] if isinstance(record.inputs[0], tuple) else None
            if not isinstance(maker, OpRecord) or maker not in products:
                continue
            mask = numbers_at(look, products[maker])
            share = 0.0 if mask is None or not _is_mask(mask) else float((mask == 0).mean())
            if share > _MANY:
                name = called(look, products[maker])
                yield MaskedMean(name, share, source=record.source, other=maker.source)


@dataclass(frozen=True)
class NoDistribution(Reason):
    """Targets of cross_entropy are rows of zeros and ones, some with several ones."""

    code = "many-hot"
    keeps_loss = False
    blames_line = True
    name: str
    rows: int = field(compare=False)
    of_rows: int = field(compare=False)

    def text(self) -> str:
        return (
            f"{self.rows} of {self.of_rows} rows of the targets {self.name} have several ones: "
            "cross_entropy() takes each row for the probabilities of classes that exclude each "
            "other, whose sum is 1"
        )

    def remedy(self) -> str:
        return "binary_cross_entropy_with_logits() takes labels that do not exclude each other"


class ManyHot(Repeated):
    """Products of log_softmax and data of zeros and ones within one line, as cross_entropy makes
    them of targets that are probabilities."""

    def find(self, look: Look) -> Iterator[Reason]:
        for record, learning, data in _products(look):
            maker = past_views(learning)[0]
            shape = shape_of(data)
            if not isinstance(maker, OpRecord) or maker.name != "log_softmax":
                continue
            if maker.source != record.source or len(shape) != 2 or not _is_of_classes(maker):
                continue
            targets = numbers_at(look, data)
            if targets is not None and _is_mask(targets):
                several = int((targets.sum(int(maker.attributes.get("dim", 1))) > 1).sum())
                if several:
                    yield NoDistribution(
                        called(look, data), several, len(targets), source=record.source
                    )


@dataclass(frozen=True)
class OtherLabels(Reason):
    """Labels that a loss compares with 1 and -1, some of which are neither."""

    code = "other-labels"
    keeps_loss = False
    blames_line = True
    name: str
    rows: int = field(compare=False)
    of_rows: int = field(compare=False)

    def text(self) -> str:
        labels = f"labels {self.name}" if self.name else "labels"
        return (
            f"{self.rows} of {self.of_rows} {labels} are neither 1 nor -1: this loss knows these "
            "two, and adds nothing for others"
        )

    def remedy(self) -> str:
        return "make them 1 and -1: 2 * labels - 1, if they are 1 and 0"


class LabelsCompared(Repeated):
    """Labels that an op compares with 1, and another one of the line with -1."""

    def find(self, look: Look) -> Iterator[Reason]:
        by_label: dict[Origin, dict[float, OpRecord]] = {}
        for record in look.records:
            if isinstance(record, OpRecord) and record.name == "eq" and len(record.inputs) == 2:
                label, number = record.inputs
                if isinstance(label, tuple) and isinstance(number, int | float) and is_data(label):
                    by_label.setdefault(label, {})[float(number)] = record
        for label, ops in by_label.items():
            if ops.keys() != {1.0, -1.0} or ops[1.0].source != ops[-1.0].source:
                continue
            one, other = (numbers_at(look, (op, 0)) for op in ops.values())
            if one is None or other is None or one.shape != other.shape:
                continue
            neither = int((~(one.astype(bool) | other.astype(bool))).sum())
            if neither:
                yield OtherLabels(called(look, label), neither, one.size, source=ops[1.0].source)


def _is_of_classes(record: OpRecord) -> bool:
    """Return whether a line calls cross_entropy(), or may call a CrossEntropyLoss."""
    at = record.source
    if at is None:
        return False
    return "cross_entropy" in getline(*at) or bool(calls_of("CrossEntropyLoss", at.file))


def _products(look: Look) -> Iterator[tuple[OpRecord, Origin, Origin]]:
    """Yield products of what learns with data: the op, and both."""
    for record in look.records:
        if not isinstance(record, OpRecord) or record.name != "mul" or not record.requires_grad:
            continue
        given = [each for each in record.inputs if isinstance(each, tuple)]
        learning = [each for each in given if each[0].requires_grad]
        data = [each for each in given if is_data(each)]
        if len(given) == 2 and len(learning) == 1 and data:
            yield record, learning[0], data[0]


def _spread(look: Look, data: Origin, shape: tuple[int, ...]) -> Array | None:
    """Return the numbers of data in a shape, None where they are unknown, or have another one."""
    numbers = numbers_at(look, data)
    try:
        return None if numbers is None else np.broadcast_to(numbers, shape)
    except ValueError:
        return None


def _is_mask(numbers: Array) -> bool:
    return bool(numbers.any() and ((numbers == 0) | (numbers == 1)).all() and not numbers.all())


RULES: Final = (
    Rule(rule_of(CancelledWeights), Meaning(
        "weights-cancel", "warning", "weights of rows multiply a loss that is one number",
        "The loss is reduced before they multiply it. This holds in each call that check looked "
        "at (at least two).",
        "(F.mse_loss(y, t) * weights).mean()",
        'loss = F.mse_loss(y, t, reduction="none")\n(loss * weights).mean()',
        "When there are as many terms as rows by chance, and the weights are those of the terms.",
    ), needs=(CancelledWeights,)),
    Rule(rule_of(MaskedScores), Meaning(
        "masked-by-zero", "warning", "a mask multiplies the scores of a softmax",
        "What is masked gets the score 0, and exp(0) is 1. This holds in each call that check "
        "looked at (at least two).",
        "torch.softmax(scores * mask, 1)",
        'torch.softmax(scores.masked_fill(mask == 0, float("-inf")), 1)',
        "When 0 is meant as a score, or you mask the result in a way that check does not see.",
    ), needs=(MaskedScores,)),
    Rule(rule_of(MaskedMeans), Meaning(
        "masked-mean", "info", "a mean counts places that a mask leaves out",
        "The mask is 0 at more than 30% of the places. This holds in each call that check looked "
        "at (at least two).",
        "(loss * mask).mean()", "(loss * mask).sum() / mask.sum()",
        "When each place should weigh the same in all batches.",
    ), needs=(MaskedMeans,)),
    Rule(rule_of(ManyHot), Meaning(
        "many-hot", "warning", "targets of cross_entropy have several ones in a row",
        "They are labels that do not exclude each other. This holds in each call that check "
        "looked at (at least two).",
        "F.cross_entropy(scores, tags)", "F.binary_cross_entropy_with_logits(scores, tags)",
        "When each row should share its probability among its labels, in proportion to its number "
        "of labels.",
    ), needs=(ManyHot,)),
    Rule(rule_of(LabelsCompared), Meaning(
        "other-labels", "warning", "labels are neither 1 nor -1",
        "The loss compares them with both, as cosine_embedding_loss() does. This holds in each "
        "call that check looked at (at least two).",
        "same = (a == b).float()", "same = 2 * (a == b).float() - 1",
        "When other labels should leave a row out.",
    ), needs=(LabelsCompared,)),
)  # fmt: skip
