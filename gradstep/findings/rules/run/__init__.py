"""The rules over a whole run, each in a file of its own."""

from __future__ import annotations

from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.finding import Rule
from gradstep.findings.rules.run import (
    accumulating,
    aliased,
    broken_by_a_step,
    collapse,
    constant_loss,
    derivatives,
    gradient_sizes,
    graph_growth,
    graph_kept,
    initialization,
    left_over,
    loss_over_calls,
    made_anew,
    misspelt,
    modes,
    never_reached,
    no_leaf,
    not_finite,
    sampled,
    step_sizes,
    unchanged,
    untrained,
    zero_gradients,
)

_IN_ORDER: Final = (
    derivatives, never_reached, untrained, zero_gradients, accumulating, left_over, made_anew,
    collapse, unchanged, step_sizes, modes, gradient_sizes, graph_growth, misspelt,
    broken_by_a_step, constant_loss, sampled, graph_kept, initialization, loss_over_calls,
    aliased, no_leaf, not_finite,
)  # fmt: skip
RULES: Final[tuple[Rule[Facts], ...]] = tuple(rule for module in _IN_ORDER for rule in module.RULES)
