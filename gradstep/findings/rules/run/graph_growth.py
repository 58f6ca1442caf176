"""Graphs that become larger from call to call."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.fixes import detached_in
from gradstep.findings.source_lines import calls_with
from gradstep.findings.whole_run.watch import Evidence, lines_of

_CALLS: Final = 6
"""Calls of a line in a row, each of which is to have more nodes than the one before."""


def graph_growth(evidence: Evidence) -> Iterator[Finding]:
    """Yield lines of which each of the first six calls has more nodes than the one before, by the
    same number: it goes through the graphs of earlier calls."""
    for line, calls in lines_of(evidence.run):
        nodes = [call.nodes for call in calls if call.nodes]
        steps = [after - before for before, after in pairwise(nodes[:_CALLS])]
        if len(steps) < _CALLS - 1 or min(steps) <= 0 or len(set(steps[1:])) > 1:
            continue
        kept = calls_with("retain_graph", line.file) if line is not None else []
        carried = sorted(evidence.carried)
        through = f", through {', '.join(carried[:2])}" if carried else ""
        where = [evidence.carried[name] for name in carried if evidence.carried[name] is not None]
        yield Finding(
            "warning", "graph-grows",
            f"the graph grows by {steps[-1]} nodes in each call, from {nodes[0]:,} to "
            f"{max(nodes):,}: it contains the graphs of earlier calls{through}, which "
            "retain_graph=True keeps, and each step becomes slower",
            "call detach() on what is carried over from one step to the next, and leave out "
            "retain_graph=True",
            source=where[0] if where else line, other=kept[0] if kept else None,
            fix=detached_in(where[0], carried[0]) if where else (),
        )  # fmt: skip


RULES: Final = (
    Rule(graph_growth, Meaning(
        "graph-grows", "warning", "each call has a larger graph than the one before",
        "The graph contains those of earlier calls, which retain_graph=True keeps.",
        "center = 0.9 * center + 0.1 * h", "center = (0.9 * center + 0.1 * h).detach()",
    )),
)  # fmt: skip
