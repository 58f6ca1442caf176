"""Leaves that a step made NaN or infinite although their gradients were finite."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import isfinite
from typing import Final

from gradstep.findings.finding import Finding, Rule
from gradstep.findings.fixes import with_argument
from gradstep.findings.source_lines import assigned, calls_of
from gradstep.findings.whole_run.history import History, histories
from gradstep.findings.whole_run.watch import Evidence
from gradstep.text import listed


def broken_by_a_step(evidence: Evidence) -> Iterator[Finding]:
    """Yield the leaves whose values were finite in one call and not in the next one, although the
    gradients between were."""
    broken = [history for history in histories(evidence.run) if _is_broken(history)]
    if not broken:
        return
    names = [history.leaf.name for history in broken]
    optimizer = broken[0].seen[0].facts.optimizer or ""
    line = broken[0].seen[0].call.line
    steps = calls_of("step", line.file, optimizer) if line is not None else []
    dtype = broken[0].leaf.dtype
    eps = next((g.get("eps") for name, g, _ in evidence.names.trained() if name == optimizer), None)
    is_half = dtype in ("float16", "half") and isinstance(eps, float) and eps < 6e-8
    why = f": eps={eps:g} is 0 in float16, so it divides by 0" if is_half else f" ({dtype})"
    lines = assigned(optimizer, line.file) if is_half and line is not None else []
    kind = type(evidence.names.optimizers.get(optimizer)).__name__
    fix = with_argument(lines[0], kind, "eps", "1e-4") if lines else ()
    yield Finding(
        "warning", "not-finite",
        f"{optimizer or 'a step'}{'.step()' if optimizer else ''} made {listed(names)} NaN or "
        f"infinite, although {'its' if len(names) == 1 else 'their'} gradients were finite{why}",
        "keep the weights in float32, and use autocast for the forward pass; or eps=1e-4"
        if is_half else "use a smaller learning rate, or clip the gradients",
        source=steps[0] if steps else line, leaves=tuple(names), fix=fix,
    )  # fmt: skip


def _is_broken(history: History) -> bool:
    return any(
        before.facts.parameter_rms is not None
        and after.facts.parameter_rms is not None
        and isfinite(before.facts.parameter_rms)
        and not isfinite(after.facts.parameter_rms)
        and not before.facts.is_troubled
        for before, after in pairwise(history.seen)
    )


RULES: Final = (Rule(broken_by_a_step),)
