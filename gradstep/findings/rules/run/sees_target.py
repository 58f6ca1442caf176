"""Language models whose output depends on the token that it is to predict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from gradstep.contract.op_records import OpRecord, Origin, Record, reachable
from gradstep.findings.facts.repeated import OF_CLASSES, Repeated, compared, numbers_at, rule_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.rules.run.scores import shifts
from gradstep.recording.look import Look

_KNOWN: Final = 0.95
_ALL: Final = 0.9
_MOST: Final = 1 << 22  # numbers
_PRODUCTS: Final = ("bmm", "matmul", "mm", "baddbmm")
_BEFORE_SOFTMAX: Final = (
    "add", "sub", "mul", "div", "masked_fill", "where", "view", "reshape", "_unsafe_view",
    "unsafe_view", "clone", "to", "cast", "expand", "softcap", "tanh",
)  # fmt: skip


@dataclass(frozen=True)
class SeesTarget(Reason):
    """Attention gives weight to the tokens that come later, the target of each place among them."""

    code = "sees-target"
    blames_line = True
    other_is = "compared at"
    helps = (
        "give the attention a causal mask: is_causal=True, or an attn_mask that is True, or -inf, "
        "above the diagonal"
    )
    by_op: str

    def text(self) -> str:
        return (
            f"the target of each place is the next token, and {self.by_op} gives weight to tokens "
            "that come later: the model reads the answer, and cannot predict where it is missing"
        )


class SeesTargets(Repeated):
    """Attention over the tokens of a sequence whose targets are the next ones."""

    def find(self, look: Look) -> Iterator[Reason]:
        for op, prediction, target in compared(look):
            labels = numbers_at(look, target) if op.name in OF_CLASSES else None
            if labels is None:
                continue
            behind = reachable([prediction[0]])
            tokens = [
                record
                for record, by in shifts(look, behind, labels)
                if by.get(1, 0.0) > _KNOWN > by[0]
            ]
            if len(tokens) != 1:
                continue
            for record in behind:
                if isinstance(record, OpRecord) and _looks_ahead(look, record, tokens[0]):
                    yield SeesTarget(record.name, source=record.source, other=op.source)
                    break


def _looks_ahead(look: Look, record: OpRecord, tokens: Record) -> bool:
    """Return whether an op takes attention of the places of a sequence to each other, whose keys
    come from its tokens, and gives weight to those that come later."""
    if record.name == "softmax":
        factors = _factors(record)
        weights: Any = numbers_at(look, (record, 0), _MOST)
        if weights is None or weights.ndim < 2 or weights.shape[-1] != weights.shape[-2]:
            return False
        above = np.triu_indices(weights.shape[-1], 1)
        is_ahead = (weights[..., above[0], above[1]] > 0).mean() > _ALL
    elif record.name == "scaled_dot_product_attention":
        factors = [each for each in record.inputs if isinstance(each, tuple)][:2]
        is_ahead = not record.attributes.get("is_causal") and _is_of_all(look, record)
    else:
        return False
    return (
        bool(is_ahead)
        and len(factors) == 2
        and all(tokens in reachable([factor[0]]) for factor in factors)
    )


def _factors(record: OpRecord) -> list[Origin]:
    """Return what is multiplied for the scores that a softmax gets."""
    at: Record | None = record
    while isinstance(at, OpRecord) and at.name in ("softmax", *_BEFORE_SOFTMAX):
        given = [each for each in at.inputs if isinstance(each, tuple)]
        at = given[0][0] if given else None
    if not isinstance(at, OpRecord) or at.name not in _PRODUCTS:
        return []
    return [each for each in at.inputs if isinstance(each, tuple)][-2:]


def _is_of_all(look: Look, record: OpRecord) -> bool:
    """Return whether the result is that of attention without a mask, of which nothing is kept."""
    origins = [each for each in record.inputs if isinstance(each, tuple)][:3]
    q, k, v = (numbers_at(look, each, _MOST) for each in origins)
    result = numbers_at(look, (record, 0), _MOST)
    if q is None or k is None or v is None or result is None or q.shape != k.shape:
        return False
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return bool(np.allclose(weights @ v, result, rtol=1e-2, atol=1e-3 * np.abs(result).max()))


RULES: Final = (
    Rule(rule_of(SeesTargets), Meaning(
        "sees-target", "warning", "a language model reads the token that it has to predict",
        "The targets are the next tokens, and attention gives weight to later ones.",
        "mha(h, h, h)", "mha(h, h, h, attn_mask=mask, is_causal=True)",
        "When the model should copy the token.",
    ), needs=(SeesTargets,)),
)  # fmt: skip
