"""The rules over a whole run, each in a file of its own."""

from __future__ import annotations

from typing import Final

from gradstep.findings.linting.finding import Rule
from gradstep.findings.whole_run.rules import (
    accumulating,
    aliased,
    broken_by_a_step,
    constant_loss,
    derivatives,
    gradient_sizes,
    graph_growth,
    graph_kept,
    initialization,
    left_over,
    loss_over_calls,
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
from gradstep.findings.whole_run.watch import Evidence

RULES: Final[tuple[Rule[Evidence], ...]] = (
    *derivatives.RULES,
    *never_reached.RULES,
    *untrained.RULES,
    *zero_gradients.RULES,
    *accumulating.RULES,
    *left_over.RULES,
    *unchanged.RULES,
    *step_sizes.RULES,
    *modes.RULES,
    *gradient_sizes.RULES,
    *graph_growth.RULES,
    *misspelt.RULES,
    *broken_by_a_step.RULES,
    *constant_loss.RULES,
    *sampled.RULES,
    *graph_kept.RULES,
    *initialization.RULES,
    *loss_over_calls.RULES,
    *aliased.RULES,
    *no_leaf.RULES,
    *not_finite.RULES,
)
