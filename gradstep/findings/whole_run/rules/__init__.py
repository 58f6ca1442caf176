"""The rules over a whole run, each in a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from gradstep.findings.linting.finding import Finding
from gradstep.findings.whole_run.rules.accumulating import accumulating
from gradstep.findings.whole_run.rules.aliased import aliased
from gradstep.findings.whole_run.rules.broken_by_a_step import broken_by_a_step
from gradstep.findings.whole_run.rules.constant_loss import constant_loss
from gradstep.findings.whole_run.rules.derivatives import derivatives
from gradstep.findings.whole_run.rules.gradient_sizes import gradient_sizes
from gradstep.findings.whole_run.rules.graph_growth import graph_growth
from gradstep.findings.whole_run.rules.graph_kept import graph_kept
from gradstep.findings.whole_run.rules.initialization import initialization
from gradstep.findings.whole_run.rules.left_over import left_over
from gradstep.findings.whole_run.rules.loss_over_calls import loss_falls, loss_flat
from gradstep.findings.whole_run.rules.misspelt import misspelt
from gradstep.findings.whole_run.rules.modes import modes
from gradstep.findings.whole_run.rules.never_reached import never_reached
from gradstep.findings.whole_run.rules.no_leaf import no_leaf
from gradstep.findings.whole_run.rules.not_finite import not_finite
from gradstep.findings.whole_run.rules.skipped import skipped
from gradstep.findings.whole_run.rules.step_sizes import step_sizes
from gradstep.findings.whole_run.rules.unchanged import unchanged
from gradstep.findings.whole_run.rules.untrained import untrained
from gradstep.findings.whole_run.rules.zero_gradients import zero_gradients
from gradstep.findings.whole_run.watch import Evidence

RULES: Final[tuple[Callable[[Evidence], Iterable[Finding]], ...]] = (
    derivatives, never_reached, untrained, zero_gradients, accumulating, left_over, unchanged,
    step_sizes, modes, gradient_sizes, graph_growth, misspelt, broken_by_a_step, constant_loss,
    skipped, graph_kept, initialization, loss_flat, loss_falls, aliased, no_leaf,
    not_finite,
)  # fmt: skip
