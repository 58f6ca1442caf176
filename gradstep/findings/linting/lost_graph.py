"""Losses without a graph, of which backward() raises an error."""

from __future__ import annotations

from typing import Final

from gradstep.capturing.op_records import LeafRecord, OpRecord, Record, reachable
from gradstep.findings.linting.finding import Finding
from gradstep.findings.linting.rule import Meaning
from gradstep.findings.whole_run.source_lines import calls_of


def lost_graph(loss: Record) -> tuple[Finding, ...]:
    """Find the op of a loss that took it out of its graph, and who switched gradients off; nothing
    where that is unknown."""
    ops = [each for each in reachable([loss]) if isinstance(each, OpRecord)]
    for op in ops:
        learning = [each[0] for each in op.inputs if isinstance(each, tuple)]
        if op.grad_mode or op.requires_grad or not any(each.requires_grad for each in learning):
            continue
        if op.source is None:
            return ()
        file, line = op.source.file, op.source.line
        switches = [at for at in calls_of("set_grad_enabled", file) if at.line < line]
        switched = f"set_grad_enabled() in line {switches[-1].line}" if switches else "no_grad()"
        undo = "torch.set_grad_enabled(True)" if switches else "this outside no_grad()"
        return (
            Finding(
                "error", "no-graph",
                f"the loss has no graph: {op.name}() ran while gradients were switched off, by "
                f"{switched}",
                f"call {undo} before the forward pass" if switches else f"compute {undo}",
                source=switches[-1] if switches else op.source,
                other=op.source if switches else None,
            ),
        )  # fmt: skip
    if any(each.requires_grad or (isinstance(each, LeafRecord) and each.cut) for each in ops):
        return ()
    for op in reversed(ops):
        source = op.source
        if source is not None and source in calls_of("tensor", source.file):
            return (
                Finding(
                    "error", "no-graph",
                    "the loss has no graph: torch.tensor() makes a new tensor of the numbers in "
                    "others, and leaves their graphs behind",
                    "join them with torch.stack(), or torch.cat()",
                    source=source,
                ),
            )  # fmt: skip
    return ()


NO_GRAPH: Final = Meaning(
    "no-graph", "error", "the loss has no graph, and backward() fails",
    "Gradients were switched off, or a value was made anew from numbers.",
    "loss = torch.tensor(losses).sum()", "loss = torch.stack(losses).sum()",
)  # fmt: skip
