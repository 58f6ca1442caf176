"""Leaves that a step made NaN or infinite although their gradients were finite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.history import History, histories
from gradstep.findings.finding import Fix, Reason, Rule
from gradstep.findings.fixes import example, with_argument
from gradstep.findings.not_finite import NotFinite
from gradstep.findings.source_lines import assigned, calls_of
from gradstep.graph.model import Source


@dataclass(frozen=True)
class BrokenByStep(NotFinite):
    """A step of an optimizer, made as a ``kind`` at ``made``, broke leaves of a ``dtype``; by
    its ``eps``, where that is 0 in float16."""

    keeps_loss = False
    marks = ("step",)
    optimizer: str
    dtype: str
    eps: float | None
    made: Source | None
    kind: str

    def text(self) -> str:
        is_zero = self.eps is not None
        why = f": eps={self.eps:g} is 0 in float16, so it divides by 0" if is_zero else (
            f" ({self.dtype})"
        )  # fmt: skip
        finite = f"although {self.of('its', 'their')} gradients were finite{why}"
        if not self.optimizer:
            return f"{self.named} became NaN or infinite between two calls, {finite}"
        return f"{self.optimizer}.step() made {self.named} NaN or infinite, {finite}"

    def remedy(self) -> str:
        if not self.optimizer:
            return f"look at what changes {self.of('it', 'them')} between the calls"
        if self.eps is None:
            return "use a smaller learning rate, or clip the gradients"
        return "keep the weights in float32, and use autocast for the forward pass; or eps=1e-4"

    def fix(self) -> tuple[Fix, ...]:
        return example(with_argument(self.made, self.kind, "eps", "1e-4"))


def broken_by_a_step(facts: Facts) -> Iterator[Reason]:
    """Yield the leaves whose values were finite in one call and not in the next one, although the
    gradients between were."""
    broken = [history for history in histories(facts.run) if _is_broken(history)]
    if not broken:
        return
    names = tuple(history.leaf.name for history in broken)
    optimizer = broken[0].seen[0].facts.optimizer or ""
    line = broken[0].seen[0].call.line
    steps = calls_of("step", line.file, optimizer) if line is not None else []
    dtype = broken[0].leaf.dtype
    groups = [group for group in facts.run.training.groups if group.optimizer == optimizer]
    eps = groups[0].options.get("eps") if groups else None
    is_half = dtype in ("float16", "half") and eps is not None and eps < 6e-8
    lines = assigned(optimizer, line.file) if is_half and line is not None else []
    yield BrokenByStep(
        optimizer, str(dtype), eps if is_half else None, lines[0] if lines else None,
        groups[0].kind if groups else "",
        leaves=names, source=steps[0] if steps else line,
    )  # fmt: skip


def _is_broken(history: History) -> bool:
    return any(
        before.facts.parameter_rms is not None
        and after.facts.parameter_rms is not None
        and isfinite(before.facts.parameter_rms)
        and not isfinite(after.facts.parameter_rms)
        and not before.facts.is_troubled
        for before, after in history.pairs
    )


RULES: Final = (Rule(broken_by_a_step, code="not-finite"),)
