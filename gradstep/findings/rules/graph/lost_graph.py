"""Losses without a graph, of which backward() raises an error."""

from __future__ import annotations

from typing import Final

from gradstep.contract.op_records import LeafRecord, OpRecord, Record, frozen_among, reachable
from gradstep.findings.finding import Finding, Meaning
from gradstep.findings.fixes import renamed
from gradstep.findings.source_lines import assigned, calls_of, under_no_grad
from gradstep.graph.model import Source


def _switched_off(name: str, at: Source) -> Finding:
    what = f"the loss has no graph: {name}() ran while gradients were switched off, by"
    if (around := under_no_grad(at)) is not None:
        return Finding(
            "error", "no-graph", f"{what} no_grad() in line {around.line}",
            "compute the loss outside no_grad()", source=at, other=around,
        )  # fmt: skip
    switches = calls_of("set_grad_enabled", at.file)
    if switches:
        return Finding(
            "error", "no-graph",
            f"{what} set_grad_enabled() in line {switches[-1].line}, which nothing undid",
            "call torch.set_grad_enabled(True) before the forward pass, or use `with "
            "torch.no_grad():` there", source=switches[-1], other=at,
        )  # fmt: skip
    return Finding(
        "error", "no-graph", f"{what} no_grad() or set_grad_enabled(False) in a caller",
        "compute the loss outside no_grad()", source=at,
    )  # fmt: skip


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
        return (_switched_off(op.name, op.source),)
    if any(op.requires_grad or (isinstance(op, LeafRecord) and op.cut) for op in ops):
        return ()
    if frozen := frozen_among(reachable([loss])):
        sources = [op.source for op in ops if op.source is not None]
        file = sources[0].file if sources else ""
        lines = [*assigned("requires_grad", file), *calls_of("requires_grad_", file)]
        return (
            Finding(
                "error", "no-graph",
                f"the loss has no graph: requires_grad is False for {frozen}",
                "leave requires_grad True for those that are to learn; if it is set by name, see "
                "whether named_parameters() gives such names",
                source=lines[-1] if lines else sources[0] if sources else None,
            ),
        )  # fmt: skip
    for op in reversed(ops):
        source = op.source
        if source is not None and source in calls_of("tensor", source.file):
            return (
                Finding(
                    "error", "no-graph",
                    "the loss has no graph: torch.tensor() makes a new tensor of the numbers in "
                    "others, and leaves their graphs behind",
                    "join them with torch.stack(), or torch.cat()",
                    source=source, fix=renamed(source, "tensor", "stack"),
                ),
            )  # fmt: skip
    return ()


NO_GRAPH: Final = Meaning(
    "no-graph", "error", "the loss has no graph, and backward() fails",
    "Gradients were switched off, or a value was made anew from numbers.",
    "loss = torch.tensor(losses).sum()", "loss = torch.stack(losses).sum()",
)  # fmt: skip
