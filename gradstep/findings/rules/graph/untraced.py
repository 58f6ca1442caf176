"""Forward passes of which nothing is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Forward
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.rules.graph.subject import Subject


@dataclass(frozen=True)
class Untraced(Reason):
    """Nothing is known of the forward pass."""

    code = "untraced"
    severity = "info"
    helps = "run it inside `with gradstep.trace(values=True):`"
    says = "the forward pass was not traced, so it is unknown where values left the graph"


def find_untraced(subject: Subject) -> Iterator[Reason]:
    """Say that the forward pass was not traced, unless it was."""
    if len(subject.origins) == len(dict.fromkeys(map(id, subject.roots))):
        return
    yield Untraced()


RULES: Final = (
    Rule(find_untraced, Meaning(
        "untraced", "info", "the forward pass was not traced",
        "It is unknown where values left the graph.",
        "loss = f(x)", "with gradstep.trace(values=True):\n    loss = f(x)",
    ), needs=(Forward,)),
)  # fmt: skip
