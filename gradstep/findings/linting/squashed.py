"""Probabilities that go into a function that makes probabilities of scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from gradstep.findings.linting.finding import Finding
from gradstep.findings.linting.subject import Subject

_LOSSES: Final = {
    "log_softmax": "cross_entropy() and log_softmax()",
    "binary_cross_entropy_with_logits": "binary_cross_entropy_with_logits()",
}
_SQUASHING: Final = ("softmax", "sigmoid")
_MOVING: Final = (
    "view", "_unsafe_view", "reshape", "clone", "squeeze", "unsqueeze", "t", "transpose", "permute",
    "to", "cast", "_to_copy", "flatten", "select", "slice",
)  # fmt: skip


def find_squashed_twice(subject: Subject) -> Iterator[Finding]:
    """Yield losses that take scores and are given the result of a softmax or a sigmoid."""
    behind: dict[int, list[int]] = defaultdict(list)
    graph = subject.graph
    for source, target in zip(graph.edge_sources, graph.edge_targets, strict=True):
        behind[source].append(target)
    for index, _ in subject.ops():
        if graph.stem(index) not in _LOSSES:
            continue
        at = index
        while len(behind[at]) == 1 and graph.stem(at := behind[at][0]) in _MOVING:
            pass
        if at != index and graph.stem(at) in _SQUASHING:
            line, loss_line = subject.source(at), subject.source(index)
            yield Finding(
                "warning", "squashed-twice",
                f"{graph.address(at)} makes probabilities of the scores, and "
                f"{graph.address(index)} does so again",
                f"give {_LOSSES[graph.stem(index)]} the scores, without the {graph.stem(at)}",
                graph.address(at), at, line, None if line == loss_line else loss_line,
            )  # fmt: skip


_OF_LOGARITHMS: Final = ("nll_loss", "kl_div", "nll_loss_nd", "nll_loss2d")


def find_probabilities(subject: Subject) -> Iterator[Finding]:
    """Yield losses that take logarithms of probabilities and are given the probabilities."""
    graph = subject.graph
    behind: dict[int, list[int]] = defaultdict(list)
    for source, target in zip(graph.edge_sources, graph.edge_targets, strict=True):
        behind[source].append(target)
    for index, _ in subject.ops():
        if graph.stem(index) not in _OF_LOGARITHMS:
            continue
        at = index
        while len(behind[at]) == 1 and graph.stem(at := behind[at][0]) in _MOVING:
            pass
        if at != index and graph.stem(at) in _SQUASHING:
            line, loss_line = subject.source(at), subject.source(index)
            yield Finding(
                "warning", "probabilities",
                f"{graph.address(index)} takes logarithms of probabilities, and "
                f"{graph.address(at)} gives it the probabilities themselves",
                f"use log_{graph.stem(at).removeprefix('log')}() instead of {graph.stem(at)}()",
                graph.address(at), at, line, None if line == loss_line else loss_line,
            )  # fmt: skip
