"""Graphs that become larger from call to call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.facts.carried import CarriedStates
from gradstep.findings.facts.history import lines_of
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import detached_in
from gradstep.findings.source_lines import calls_with

_CALLS: Final = 6
"""Calls of a line in a row, each of which is to have more nodes than the one before."""


@dataclass(frozen=True)
class GraphGrows(Reason):
    """Each call has so many nodes more than the one before, through what is ``carried``."""

    code = "graph-grows"
    keeps_loss = True
    helps = (
        "call detach() on what is carried over from one step to the next, and leave out "
        "retain_graph=True"
    )
    step: int
    first: int
    largest: int
    carried: tuple[str, ...]
    is_in_line: bool

    def text(self) -> str:
        through = f", through {', '.join(self.carried)}" if self.carried else ""
        return (
            f"the graph grows by {self.step} nodes in each call, from {self.first:,} to "
            f"{self.largest:,}: it contains the graphs of earlier calls{through}, which "
            "retain_graph=True keeps, and each step becomes slower"
        )

    def fix(self) -> tuple[Fix, ...]:
        return detached_in(self.source, self.carried[0]) if self.is_in_line else ()


def graph_growth(facts: Facts) -> Iterator[Reason]:
    """Yield lines of which each of the first six calls has more nodes than the one before, by the
    same number: it goes through the graphs of earlier calls."""
    for line, calls in lines_of(facts.run):
        nodes = [call.nodes for call in calls if call.nodes]
        steps = [after - before for before, after in pairwise(nodes[:_CALLS])]
        if len(steps) < _CALLS - 1 or min(steps) <= 0 or len(set(steps[1:])) > 1:
            continue
        kept = calls_with("retain_graph", line.file) if line is not None else []
        states = facts[CarriedStates].states
        carried = sorted(states)
        where = [at for name in carried if (at := states[name].source) is not None]
        yield GraphGrows(
            steps[-1], nodes[0], max(nodes), tuple(carried[:2]), bool(where),
            source=where[0] if where else line, other=kept[0] if kept else None,
        )  # fmt: skip


RULES: Final = (
    Rule(graph_growth, Meaning(
        "graph-grows", "warning", "each call has a larger graph than the previous one",
        "The graph contains those of earlier calls, which retain_graph=True keeps.",
        "center = 0.9 * center + 0.1 * h", "center = (0.9 * center + 0.1 * h).detach()",
        "When it grows on purpose, as in a curriculum of longer sequences, and then stops.",
    ), uses=(CarriedStates,)),
)  # fmt: skip
