"""The memory that a graph keeps for its backward pass, and the modules it is kept for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from gradstep.findings.facts import Objects
from gradstep.findings.finding import Meaning, Reason, Rule
from gradstep.findings.rules.graph.subject import Subject
from gradstep.graph.statistics import format_bytes

_LEAST: Final = 1 << 20
"""Bytes; of less, nothing is said."""
_SHOWN: Final = 5


@dataclass(frozen=True)
class Memory(Reason):
    """What is kept, in all and by the ``largest`` modules, and how many ``more`` there are."""

    code = "memory"
    severity = "info"
    helps = "if that is too much, checkpoint the module that keeps most"
    total: int = field(compare=False)
    largest: tuple[tuple[int, str], ...] = field(compare=False)
    more: int = field(compare=False)

    def text(self) -> str:
        parts = [f"{format_bytes(size)} in {scope}" for size, scope in self.largest]
        if self.more:
            rest = self.total - sum(size for size, _ in self.largest)
            parts.append(f"{format_bytes(rest)} in {self.more} more")
        total = format_bytes(self.total)
        return (
            f"the graph keeps {total} for the backward pass, beyond the leaves: {', '.join(parts)}"
        )


def find_memory(subject: Subject) -> Iterator[Reason]:
    """Tell how much is kept until the pass, beyond the leaves themselves, where that is much."""
    kept = kept_by_module(subject)
    total = sum(kept.values())
    if total < _LEAST:
        return
    largest = [(size, scope or "no module") for scope, size in kept.most_common(_SHOWN)]
    yield Memory(total, tuple(largest), max(0, len(kept) - _SHOWN))


def kept_by_module(subject: Subject) -> Counter[str]:
    """Count the bytes that nodes keep, by the module of the node; memory that several keep counts
    for the first to run, and that of leaves, which is there anyway, not at all."""
    engine = subject.engine
    seen: set[int | None] = {None}
    for _, leaf in subject.leaves.values():
        known = engine.reading.extent(leaf)
        seen.add(None if known is None else known.storage)
    sizes: Counter[str] = Counter()
    for index, node in subject.ops():
        for _, value, state in node.saved():
            extent = None if value is None or state != "kept" else engine.reading.extent(value)
            if extent is None or (extent.storage is not None and extent.storage in seen):
                continue
            seen.add(extent.storage)
            sizes[subject.graph.scopes[index]] += extent.nbytes
    return sizes


RULES: Final = (
    Rule(find_memory, Meaning(
        "memory", "info", "memory kept for the backward pass, by module", "",
        "y = block(x)", "y = checkpoint(block, x)",
        "When there is enough memory.",
    ), needs=(Objects,)),
)  # fmt: skip
