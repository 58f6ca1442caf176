"""Tensors whose ``.grad`` the program reads, and which are no leaves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gradstep.findings.linting.finding import Finding
from gradstep.findings.linting.rule import Meaning, Rule
from gradstep.findings.whole_run.source_lines import reads_grad
from gradstep.findings.whole_run.watch import Evidence


def no_leaf(evidence: Evidence) -> Iterator[Finding]:
    """Yield the tensors that an op made of a leaf without a name, and whose ``.grad``, which
    nothing fills, the program reads."""
    for name, (how, source) in evidence.results.items():
        if source is not None and reads_grad(name, source.file):
            yield Finding(
                "warning", "no-leaf",
                f"{name} is not a leaf: it is the result of {how} of one, so backward() leaves "
                f"{name}.grad None",
                f"make {name} first, and call {name}.requires_grad_() on it then",
                source=source,
            )  # fmt: skip


RULES: Final = (
    Rule(no_leaf, Meaning(
        "no-leaf", "warning", "the .grad of a tensor is read that is no leaf",
        "An op made it of the leaf, which has no name, and only leaves get a .grad.",
        "x = torch.rand(4, requires_grad=True).double()",
        "x = torch.rand(4).double().requires_grad_()",
    )),
)  # fmt: skip
