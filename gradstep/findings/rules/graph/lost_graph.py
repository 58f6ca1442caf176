"""Losses without a graph, of which backward() raises an error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gradstep.contract.op_records import LeafRecord, OpRecord, Record, frozen_among, reachable
from gradstep.findings.finding import Finding, Meaning, Reason
from gradstep.findings.rules.graph.copied import Copied
from gradstep.findings.source_lines import assigned, calls_of, under_no_grad
from gradstep.graph.model import Source


class _NoGraph(Reason):
    code = "no-graph"
    severity = "error"


@dataclass(frozen=True)
class SwitchedOff(_NoGraph):
    """An op ran while gradients were switched off, by no_grad() ``around`` it, or by a call of
    ``switch``; by a caller where neither is known."""

    name: str
    around: Source | None = None
    switch: Source | None = None

    def text(self) -> str:
        what = f"the loss has no graph: {self.name}() ran while gradients were switched off, by"
        if self.around is not None:
            return f"{what} no_grad() in line {self.around.line}"
        if self.switch is not None:
            return f"{what} set_grad_enabled() in line {self.switch.line}, which nothing undid"
        return f"{what} no_grad() or set_grad_enabled(False) in a caller"

    def remedy(self) -> str:
        if self.around is None and self.switch is not None:
            return (
                "call torch.set_grad_enabled(True) before the forward pass, or use `with "
                "torch.no_grad():` there"
            )
        return "compute the loss outside no_grad()"

    def calls(self) -> tuple[str, ...]:
        return self.name, "set_grad_enabled"


@dataclass(frozen=True)
class Frozen(_NoGraph):
    """No leaf requires a gradient: which ones, in words."""

    helps = (
        "leave requires_grad True for those that should learn; if you set it by name, check "
        "that named_parameters() has such names"
    )
    which: str

    def text(self) -> str:
        return f"the loss has no graph: requires_grad is False for {self.which}"


@dataclass(frozen=True)
class CopiedNumbers(Copied, _NoGraph):
    """The loss is made of numbers that were copied out of tensors."""

    so = "the loss has no graph"


def _switched_off(name: str, at: Source) -> Reason:
    around, switches = under_no_grad(at), calls_of("set_grad_enabled", at.file)
    if around is None and switches:
        return SwitchedOff(name, switch=switches[-1], source=switches[-1], other=at)
    return SwitchedOff(name, around, source=at, other=around)


def lost_graph(loss: Record) -> tuple[Finding, ...]:
    """Find the op of a loss that took it out of its graph, and who switched gradients off; nothing
    where that is unknown."""
    ops = [record for record in reachable([loss]) if isinstance(record, OpRecord)]
    for op in ops:
        learning = [origin[0] for origin in op.inputs if isinstance(origin, tuple)]
        if op.grad_mode or op.requires_grad or not any(record.requires_grad for record in learning):
            continue
        if op.source is None:
            return ()
        return (Finding(_switched_off(op.name, op.source)),)
    if any(op.requires_grad or (isinstance(op, LeafRecord) and op.cut) for op in ops):
        return ()
    if frozen := frozen_among(reachable([loss])):
        sources = [op.source for op in ops if op.source is not None]
        file = sources[0].file if sources else ""
        lines = [*assigned("requires_grad", file), *calls_of("requires_grad_", file)]
        return (Finding(Frozen(frozen, source=next(iter([*lines[-1:], *sources]), None))),)
    for op in reversed(ops):
        source = op.source
        if source is not None and source in calls_of("tensor", source.file):
            return (Finding(CopiedNumbers(source=source)),)
    return ()


NO_GRAPH: Final = Meaning(
    "no-graph", "error", "the loss has no graph, and backward() fails",
    "Gradients were switched off, or a new value was made from numbers.",
    "loss = torch.tensor(losses).sum()", "loss = torch.stack(losses).sum()",
)  # fmt: skip
