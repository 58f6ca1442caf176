"""Graphs of earlier calls that the program keeps alive."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final
from weakref import ref

from gradstep.contract.lookup import is_tensor
from gradstep.findings.facts import Fact, Facts
from gradstep.findings.finding import Fix, Meaning, Reason, Rule
from gradstep.findings.fixes import Line, detached_in
from gradstep.findings.source_lines import as_written, assigned_from_itself, calls_of
from gradstep.recording.look import Look

_LONG: Final = 10_000
"""Nodes of such a graph from which on it is not measured again."""
_KEPT: Final = 5
"""Losses of earlier calls that live, or calls in a row in which a graph of the program grows."""


class KeptLosses(Fact):
    """The ``most`` losses of earlier calls that lived at once, with their graphs, and in which
    list."""

    def __init__(self) -> None:
        self.most, self.holder = 0, ""
        self._losses: list[ref[Any]] = []

    def closely(self, look: Look) -> None:
        names = look.names
        alive = [tensor for held in self._losses if (tensor := held()) is not None]
        held_in = Counter(
            name.partition("[")[0] for tensor in alive if "[" in (name := names.of(tensor))
        )
        for holder, count in held_in.most_common(1):
            if count > self.most and any(tensor.grad_fn is not None for tensor in alive):
                self.most, self.holder = count, holder
        self._losses += [ref(loss) for loss in look.losses if is_tensor(loss)]


class Chains(Fact):
    """Of tensors of the program that are made from themselves, the sizes of their graphs at the
    calls that were looked at, by name."""

    def __init__(self) -> None:
        self.sizes: dict[str, list[int]] = {}

    def closely(self, look: Look) -> None:
        engine, names = look.engine, look.names
        for tensor in names.tensors():
            if look.line is None or not engine.reading.owns(tensor) or tensor.is_leaf:
                continue
            name = as_written(names.of(tensor), look.line.file)
            if tensor.requires_grad and assigned_from_itself(name, look.line.file):
                counts = self.sizes.setdefault(name, [])
                if len(counts) <= _KEPT and not (counts and counts[-1] > _LONG):
                    counts.append(_nodes_behind(tensor))


def _nodes_behind(tensor: Any) -> int:
    """Count the nodes of the graph of ``tensor``: only that, for there may be very many."""
    seen = {tensor.grad_fn: None}
    waiting = list(seen)
    while waiting:
        for node, _ in waiting.pop().next_functions:
            if node is not None and node not in seen:
                seen[node] = None
                waiting.append(node)
    return len(seen)


@dataclass(frozen=True)
class LossesKept(Reason):
    """A list holds so many losses of earlier calls; ``is_added`` where a line appends to it."""

    code = "graph-kept"
    keeps_loss = True
    explained_here_by = ("graph-grows",)
    losses: int
    holder: str
    is_added: bool

    def text(self) -> str:
        return (
            f"the losses of {self.losses} earlier calls are alive, with their graphs, in "
            f"{self.holder}: memory grows with each step"
        )

    def remedy(self) -> str:
        return f"keep numbers: {self.holder}.append(loss.item())"

    def fix(self) -> tuple[Fix, ...]:
        if not self.is_added:
            return ()
        return Line(self.source).rewritten(
            lambda node: "loss.item()" if ast.unparse(node) == "loss" else None
        )


@dataclass(frozen=True)
class ChainGrows(Reason):
    """The graph of a variable grows by so many nodes; ``is_made`` where a line makes it."""

    code = "graph-kept"
    keeps_loss = True
    explained_here_by = ("graph-grows",)
    name: str
    step: int
    is_made: bool

    def text(self) -> str:
        return (
            f"{self.name} has a graph that grows by {self.step} nodes in each step: it keeps the "
            "graphs of all earlier calls in memory"
        )

    def remedy(self) -> str:
        return (
            f"add only numbers, such as loss.item(), or call detach() on {self.name} in each step"
        )

    def fix(self) -> tuple[Fix, ...]:
        return detached_in(self.source, self.name) if self.is_made else ()


def graph_kept(facts: Facts) -> Iterator[Reason]:
    """Yield the variable that keeps the losses of five earlier calls or more, with their graphs;
    and the one whose own graph is larger in each of five calls, as that of a sum of losses."""
    kept, chains = facts[KeptLosses], facts[Chains].sizes
    if kept.most >= _KEPT:
        added = calls_of("append", facts.file, kept.holder)
        yield LossesKept(
            kept.most, kept.holder, bool(added), source=added[0] if added else facts.line
        )
    for name, counts in chains.items():
        steps = [after - before for before, after in pairwise(counts[: _KEPT + 1])]
        if name == kept.holder or len(steps) < _KEPT or min(steps) <= 0:
            continue
        lines = assigned_from_itself(name, facts.file)
        yield ChainGrows(name, steps[-1], bool(lines), source=lines[0] if lines else facts.line)


RULES: Final = (
    Rule(graph_kept, Meaning(
        "graph-kept", "warning", "graphs of earlier calls are kept in memory",
        "Five losses of earlier calls are alive, or a variable has a graph that grows in each of "
        "five calls.",
        "history.append(loss)", "history.append(loss.item())",
        "When you use those graphs later.",
    ), needs=(KeptLosses, Chains)),
)  # fmt: skip
