"""The gradients of a backward pass, described on the nodes and edges where they went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograd_core.autograd.accumulate import AccumulateGrad
from autograd_core.autograd.step import Step
from autograd_core.dag.builder import GraphBuilder
from autograd_core.dag.model import RETURNED
from autograd_core.dag.statistics import Statistics, format_statistics, plus, statistics
from autograd_core.tensor import Tensor


def add_gradients(build: GraphBuilder, steps: Sequence[Step]) -> None:
    """Describe the gradients of ``steps``, on their nodes and edges."""
    by_index = {step.index: step for step in steps}
    for number, step in by_index.items():
        leaf = isinstance(step.node, AccumulateGrad)
        returned = leaf and step.after is None and step.hooked[0] is not None  # by ``grad``
        found = describe(step.after if leaf and not returned else step.hooked[0])
        if found is not None:
            build.statistics[number] = found
        if all(g is None for g in step.hooked):
            build.undefined.add(number)
        if returned:
            build.details[number] = RETURNED
        elif leaf:
            build.details[number] = _accumulation(step)
        elif step.captured and not step.deliveries:  # the pass ends here: its rule did not run
            build.details[number] = RETURNED
            if isinstance(build.formulas, list):
                build.formulas[number] = ""
    if not by_index:
        return
    for id, (source, output_nr) in enumerate(
        zip(build.edge_sources, build.edge_output_nrs, strict=True)
    ):
        if (sender := by_index.get(source)) is not None:
            sent = describe(sender.deliveries[output_nr].gradient)
            if sent is None:
                build.edge_undefined.add(id)
            else:
                build.edge_statistics[id] = sent


def _accumulation(step: Step) -> str:
    """``0 + 36``: what was there, and what came."""
    if step.hooked[0] is None:
        return ""
    before = describe(step.before)
    arrived = describe(step.hooked[0])
    assert arrived is not None
    return plus(format_statistics(before) if before else "0", format_statistics(arrived))


def describe(gradient: Any) -> Statistics | None:
    """The statistics of a gradient, be it an array, a NumPy scalar or a tensor."""
    if gradient is None:
        return None
    return statistics(gradient.array if isinstance(gradient, Tensor) else gradient)
