"""The memory that a graph keeps for its backward pass, and the modules it is kept for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from gradstep.findings.finding import Finding, Meaning, Rule
from gradstep.findings.rules.graph.subject import Subject
from gradstep.graph.statistics import format_bytes

_LEAST: Final = 1 << 20
"""Bytes; of less, nothing is said."""
_SHOWN: Final = 5


def find_memory(subject: Subject) -> Iterator[Finding]:
    """Tell how much is kept until the pass, beyond the leaves themselves, where that is much."""
    kept = kept_by_module(subject)
    total = sum(kept.values())
    if total < _LEAST:
        return
    largest = [(size, scope or "no module") for scope, size in kept.most_common(_SHOWN)]
    parts = [f"{format_bytes(size)} in {scope}" for size, scope in largest]
    if len(kept) > _SHOWN:
        rest = total - sum(size for size, _ in largest)
        parts.append(f"{format_bytes(rest)} in {len(kept) - _SHOWN} more")
    yield Finding(
        "info", "memory",
        f"the graph keeps {format_bytes(total)} for the backward pass, beyond the leaves: "
        f"{', '.join(parts)}",
        "if that is too much, checkpoint the module that keeps most",
    )  # fmt: skip


def kept_by_module(subject: Subject) -> Counter[str]:
    """Count the bytes that nodes keep, by the module of the node; memory that several keep counts
    for the first to run, and that of leaves, which is there anyway, not at all."""
    engine = subject.engine
    seen: set[int | None] = {None}
    for _, leaf in subject.leaves.values():
        known = engine.tensor_extent(leaf)
        seen.add(None if known is None else known.storage)
    sizes: Counter[str] = Counter()
    for index, node in subject.ops():
        for _, value, state in node.saved():
            extent = None if value is None or state != "kept" else engine.extent(value)
            if extent is None or (extent.storage is not None and extent.storage in seen):
                continue
            seen.add(extent.storage)
            sizes[subject.graph.scopes[index]] += extent.nbytes
    return sizes


RULES: Final = (
    Rule(find_memory, Meaning(
        "memory", "info", "what is kept for the backward pass, by module", "",
        "y = block(x)", "y = checkpoint(block, x)",
    )),
)  # fmt: skip
