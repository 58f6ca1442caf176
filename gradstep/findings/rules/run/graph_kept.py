"""Graphs of earlier calls that the program keeps alive."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.fixes import Line, detached_in
from gradstep.findings.source_lines import assigned_from_itself, calls_of
from gradstep.findings.whole_run.watch import Evidence

_KEPT: Final = 5
"""Losses of earlier calls that live, or calls in a row in which a graph of the program grows."""


def graph_kept(evidence: Evidence) -> Iterator[Finding]:
    """Yield the variable that keeps the losses of five earlier calls or more, with their graphs;
    and the one whose own graph is larger in each of five calls, as that of a sum of losses."""
    line = evidence.line
    file = "" if line is None else line.file
    holder = evidence.kept.holder
    if evidence.kept.losses >= _KEPT:
        added = calls_of("append", file, holder)
        yield Finding(
            "warning", "graph-kept",
            f"the losses of {evidence.kept.losses} earlier calls are alive, with their graphs, in "
            f"{holder}: memory grows with each step",
            f"keep numbers: {holder}.append(loss.item())",
            source=added[0] if added else line,
            fix=Line(added[0]).rewritten(
                lambda node: "loss.item()" if ast.unparse(node) == "loss" else None
            ) if added else (),
        )  # fmt: skip
    for name, counts in evidence.chains.items():
        steps = [after - before for before, after in pairwise(counts[: _KEPT + 1])]
        if name == holder or len(steps) < _KEPT or min(steps) <= 0:
            continue
        lines = assigned_from_itself(name, file)
        yield Finding(
            "warning", "graph-kept",
            f"{name} has a graph that grows by {steps[-1]} nodes in each step: it keeps the graphs "
            "of all earlier calls in memory",
            f"add numbers only, as loss.item() is; or call detach() on {name} in each step",
            source=lines[0] if lines else line, fix=detached_in(lines[0], name) if lines else (),
        )  # fmt: skip


RULES: Final = (
    Rule(graph_kept, Meaning(
        "graph-kept", "warning", "graphs of earlier calls are kept in memory",
        "Five losses of earlier calls are alive, or a variable has a graph that grows in each of "
        "five calls.",
        "history.append(loss)", "history.append(loss.item())",
    )),
)  # fmt: skip
