"""The rules over one graph, each in a file of its own."""

from __future__ import annotations

from typing import Final

from gradstep.findings.finding import Rule
from gradstep.findings.rules.graph import (
    broadcasting,
    changed_inputs,
    constant_terms,
    cuts,
    dims,
    equal_leaves,
    finite,
    hooks,
    leaves,
    memory,
    out_of_reach,
    overflow,
    saturated,
    saved,
    squashed,
    targets,
    untraced,
)
from gradstep.findings.rules.graph.subject import Subject

_IN_ORDER: Final = (
    saved, finite, cuts, targets, out_of_reach, constant_terms, overflow, equal_leaves,
    broadcasting, changed_inputs, saturated, squashed, dims, hooks, leaves, memory, untraced,
)  # fmt: skip
RULES: Final[tuple[Rule[Subject], ...]] = tuple(
    rule for module in _IN_ORDER for rule in module.RULES
)
