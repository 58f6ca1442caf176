"""Losses that do not fall, or fall without end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final, NamedTuple

from gradstep.contract.op_records import OpRecord
from gradstep.findings.facts import Fact, Facts
from gradstep.findings.facts.history import lines_of
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.source_lines import assigned
from gradstep.graph.model import Source
from gradstep.graph.statistics import format_number
from gradstep.recording.facts import CallFacts
from gradstep.recording.look import Look

_CALLS: Final = 100
"""Of one line, from which on a loss should have become smaller."""
_BELOW: Final = 100.0
"""Times the size of the first loss, and at least of 1, below 0."""


class Term(NamedTuple):
    """A term of a loss, and its line."""

    name: str
    source: Source | None


class LowestTerms(Fact):
    """Of the lines that call backward(), the term of the loss that is smallest."""

    def __init__(self) -> None:
        self.by_line: dict[Source | None, Term] = {}

    def closely(self, look: Look) -> None:
        engine, names = look.engine, look.names
        roots = engine.reading.tensors(engine.reading.user_tensor(root) for root in look.call.roots)
        record = roots[0].record[0] if roots and isinstance(roots[0].record, tuple) else None
        if not isinstance(record, OpRecord) or record.name not in ("add", "sub"):
            return
        terms = [origin[0] for origin in record.inputs if isinstance(origin, tuple)]
        known = [
            (term.statistics.minimum, at, term)
            for at, term in enumerate(terms)
            if isinstance(term, OpRecord) and term.statistics is not None
        ]
        if not known:
            return
        smallest = min(known)[2]
        named = {
            seen.record[0]: names.of(tensor)
            for tensor in names.tensors()
            if engine.reading.owns(tensor) and not tensor.is_leaf
            for seen in engine.reading.tensors([tensor])
            if isinstance(seen.record, tuple)
        }
        name = named.get(smallest) or f"the term that {smallest.name} makes"
        self.by_line[look.line] = Term(name, smallest.source)


@dataclass(frozen=True)
class FlatLoss(Reason):
    """The mean of the loss over the ``last`` fifth of the calls is not below the ``first``."""

    code = "loss-flat"
    severity = "info"
    helps = (
        "try the program on one small batch, which it should be able to learn by heart; then "
        "another learning rate"
    )
    first: float
    last: float
    fifth: int
    calls_in_all: int

    @property
    def is_cause(self) -> bool:
        return False

    def text(self) -> str:
        return (
            f"the loss was {format_number(self.first)} in the first {self.fifth} of "
            f"{self.calls_in_all} calls, and {format_number(self.last)} in the last {self.fifth}: "
            "it does not fall"
        )


@dataclass(frozen=True)
class FallingLoss(Reason):
    """The loss fell far below 0, most by a ``term``."""

    code = "loss-falls"
    helps = (
        "check the signs of the terms: a term that should become small is added, and a divergence "
        "is never negative"
    )
    first: float
    last: float
    term: str

    @property
    def is_cause(self) -> bool:
        return bool(self.term)

    def text(self) -> str:
        most = f", most of it by {self.term}" if self.term else ""
        return (
            f"the loss fell from {format_number(self.first)} to {format_number(self.last)}{most}: "
            "it has no lower limit, so a term may have the wrong sign"
        )


def loss_flat(facts: Facts) -> Iterator[Reason]:
    """Yield, as a note, that the mean of the loss over the last fifth of 100 calls or more is not
    smaller than over the first one; of programs with one optimizer and one loss."""
    lines = list(lines_of(facts.run))
    if len(lines) != 1 or len(_optimizers(facts)) != 1:
        return
    line, calls = lines[0]
    losses = _finite(calls)
    fifth = len(losses) // 5
    if len(losses) < _CALLS:
        return
    first, last = sum(losses[:fifth]) / fifth, sum(losses[-fifth:]) / fifth
    if last >= first:
        yield FlatLoss(first, last, fifth, len(losses), source=line)


def loss_falls(facts: Facts) -> Iterator[Reason]:
    """Yield losses that began near 0 and are far below it: a term has no lower limit."""
    for line, calls in lines_of(facts.run):
        losses = _finite(calls)
        if len(losses) < 5 or losses[-1] > -_BELOW * max(1.0, abs(losses[0])):
            continue
        term = facts[LowestTerms].by_line.get(line)
        made_at = [] if line is None else assigned("loss", line.file)
        yield FallingLoss(
            losses[0], losses[-1], "" if term is None else term.name,
            source=(term and term.source) or (made_at[0] if made_at else line),
            other=made_at[0] if made_at else None,
        )  # fmt: skip


def _finite(calls: Sequence[CallFacts]) -> list[float]:
    """Return the losses that are numbers: one that is not, as of a step that was skipped, has no
    mean."""
    return [call.loss for call in calls if call.loss is not None and isfinite(call.loss)]


def _optimizers(facts: Facts) -> set[str]:
    return {
        leaf.optimizer
        for call in facts.run.indices
        for leaf in facts.run.of_leaves(call)
        if leaf.optimizer
    }


RULES: Final = (
    Rule(loss_flat, Meaning(
        "loss-flat", "info", "the loss does not fall in 100 calls or more",
        "In a program with one optimizer, the mean loss of a line over the last fifth of the run "
        "is not smaller than over the first fifth.",
        "lr=10.0", "lr=0.01", "When the loss measures something else, like that of a policy.",
    )),
    Rule(loss_falls, Meaning(
        "loss-falls", "warning", "the loss falls without end",
        "It is below 0 by 100 times its first size, and by 100 at least.",
        "kl = 0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()",
        "kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).mean()",
        "When the loss has no lower limit on purpose, like that of a critic.",
    ), uses=(LowestTerms,)),
)  # fmt: skip
