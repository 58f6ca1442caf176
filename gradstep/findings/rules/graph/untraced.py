"""Forward passes of which nothing is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.rules.graph.subject import Subject


def find_untraced(subject: Subject) -> Iterator[Finding]:
    """Say that the forward pass was not traced, unless it was."""
    if len(subject.origins) == len(dict.fromkeys(map(id, subject.roots))):
        return
    yield Finding(
        "info", "untraced",
        "the forward pass was not traced, so it is unknown where values left the graph",
        "run it inside `with gradstep.trace(values=True):`",
    )  # fmt: skip


RULES: Final = (
    Rule(find_untraced, Meaning(
        "untraced", "info", "the forward pass was not traced",
        "Where values left the graph is unknown.",
        "loss = f(x)", "with gradstep.trace(values=True):\n    loss = f(x)",
    )),
)  # fmt: skip
