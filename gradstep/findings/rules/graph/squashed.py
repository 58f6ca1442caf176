"""Probabilities that go into a function that makes probabilities of scores."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from linecache import getline
from typing import Final

from gradstep.contract.op_records import OpRecord
from gradstep.findings.facts import Forward, Graphs
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import renamed, with_operation
from gradstep.findings.rules.graph.subject import Subject
from gradstep.findings.source_lines import calls_of
from gradstep.findings.zeros import called_at
from gradstep.graph.model import Source

_LOSSES: Final = {
    "log_softmax": "cross_entropy() and log_softmax()",
    "binary_cross_entropy_with_logits": "binary_cross_entropy_with_logits()",
}
_SQUASHING: Final = ("softmax", "sigmoid")
MOVING: Final = (
    "view", "_unsafe_view", "reshape", "clone", "squeeze", "unsqueeze", "t", "transpose", "permute",
    "to", "cast", "_to_copy", "flatten", "select", "slice",
)  # fmt: skip


@dataclass(frozen=True)
class SquashedTwice(Reason):
    """The op ``name`` makes probabilities of scores, and the ``loss`` at ``loss_at`` does, too."""

    keeps_loss = False
    code = "squashed-twice"
    blames_line = True
    name: str
    loss: str
    loss_at: str

    def text(self) -> str:
        return f"{self.address} makes probabilities of the scores, and {self.loss_at} does so again"

    def remedy(self) -> str:
        return f"give {_LOSSES[self.loss]} the scores, without the {self.name}"

    def fix(self) -> tuple[Fix, ...]:
        return _bare(self.source, self.name)

    def calls(self) -> tuple[str, ...]:
        return (self.loss,)


@dataclass(frozen=True)
class Probabilities(Reason):
    """A ``loss`` takes logarithms, and the op ``name`` gives it probabilities."""

    keeps_loss = False
    code = "probabilities"
    name: str
    loss: str

    def text(self) -> str:
        return (
            f"{self.loss} takes logarithms of probabilities, and {self.address or self.name} gives "
            "it the probabilities themselves"
        )

    def remedy(self) -> str:
        return f"use log_{self.name}() instead of {self.name}()"

    def fix(self) -> tuple[Fix, ...]:
        return renamed(self.source, self.name, f"log_{self.name}")

    def calls(self) -> tuple[str, ...]:
        return called_at(self.loss), self.loss.removesuffix("()")


def find_squashed_twice(subject: Subject) -> Iterator[Reason]:
    """Yield losses that take scores and are given the result of a softmax or a sigmoid."""
    for index, at, line, loss_line in _of_probabilities(subject, _LOSSES):
        graph = subject.graph
        yield SquashedTwice(
            graph.stem(at), graph.stem(index), graph.address(index),
            other=None if line == loss_line else loss_line,
        ).at_node(graph, at)  # fmt: skip


def _of_probabilities(
    subject: Subject, losses: Collection[str]
) -> Iterator[tuple[int, int, Source | None, Source | None]]:
    """Yield each of ``losses`` that is given the result of a softmax or a sigmoid, and that one;
    then the line of the latter, and that of the loss."""
    graph, behind = subject.graph, subject.behind
    for index, _ in subject.ops():
        if graph.stem(index) not in losses:
            continue
        at = index
        while len(behind[at]) == 1 and graph.stem(at := behind[at][0]) in MOVING:
            pass
        if at != index and graph.stem(at) in _SQUASHING:
            yield index, at, subject.source(at), subject.source(index)


def _bare(at: Source | None, name: str) -> tuple[Fix, ...]:
    """Return a line without a call of the function ``name``, or without the module that calls it
    where the program makes one of it only, on a line of its own."""
    calls = calls_of(name.capitalize(), at.file) if at is not None else []
    is_alone = len(calls) == 1 and getline(*calls[0]).strip().endswith("),")
    return with_operation(at, name, "{0}") or ((Fix(calls[0], ""),) if is_alone else ())


_OF_LOGARITHMS: Final = ("nll_loss", "kl_div", "nll_loss_nd", "nll_loss2d")


def find_probabilities(subject: Subject) -> Iterator[Reason]:
    """Yield losses that take logarithms of probabilities and are given the probabilities."""
    graph = subject.graph
    for index, at, line, loss_line in _of_probabilities(subject, _OF_LOGARITHMS):
        yield Probabilities(
            graph.stem(at), graph.address(index), other=None if line == loss_line else loss_line
        ).at_node(graph, at)


def find_divergences(subject: Subject) -> Iterator[Reason]:
    """Yield calls of kl_div(), which computes ``xlogy(p, p) - p * log_q``, with q for log_q."""
    for record in subject.records:
        if not isinstance(record, OpRecord) or record.name != "sub" or len(record.inputs) != 2:
            continue
        entropy, product = (pair[0] if isinstance(pair, tuple) else None for pair in record.inputs)
        if not isinstance(entropy, OpRecord) or entropy.name != "xlogy":
            continue
        factors = product.inputs if isinstance(product, OpRecord) and product.name == "mul" else ()
        for factor in factors:
            given = factor[0] if isinstance(factor, tuple) else None
            if (
                isinstance(given, OpRecord)
                and given.name in _SQUASHING
                and given not in (pair[0] for pair in entropy.inputs if isinstance(pair, tuple))
            ):
                yield Probabilities(
                    given.name, "kl_div()", source=given.source, other=record.source
                )


RULES: Final = (
    Rule(find_squashed_twice, Meaning(
        "squashed-twice", "warning", "a loss makes probabilities of probabilities",
        "cross_entropy() and the with_logits losses take scores.",
        "F.cross_entropy(F.softmax(h, 1), y)", "F.cross_entropy(h, y)",
        "When the model does not return probabilities, and softmax only bounds the result.",
    ), needs=(Graphs,)),
    Rule(find_probabilities, Meaning(
        "probabilities", "warning", "a loss takes logarithms, and is given probabilities",
        "nll_loss() needs the result of log_softmax().",
        "F.nll_loss(F.softmax(h, 1), y)", "F.nll_loss(F.log_softmax(h, 1), y)",
        "When the loss should be the mean of the probabilities.",
    ), needs=(Graphs,)),
    Rule(find_divergences, needs=(Forward,), code="probabilities"),
)  # fmt: skip
