"""Gradients of one loss that the step for another one uses, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gradstep.findings.facts import Facts
from gradstep.findings.finding import Reason, Rule
from gradstep.graph.model import Source
from gradstep.recording.facts import CallFacts, LeafFacts

_TIMES: Final = 2


@dataclass(frozen=True)
class LeftOver(Reason):
    """The gradients of another loss are still there."""

    code = "stale-grad"
    after = ("zero-grad",)
    marks = "backward", "step"
    helps = (
        "call detach() on what that loss should not train, or zero_grad() before this backward()"
    )

    def text(self) -> str:
        return (
            f"{self.named} {self.of('has', 'have')} a .grad from a backward() on another line, "
            "after which step() changed other leaves only: the next step() will use both gradients"
        )


def left_over(facts: Facts) -> Iterator[Reason]:
    """Yield the leaves that a call adds to while their ``.grad`` is that of a call on another line,
    after which a step changed other leaves of that call only: a discriminator's loss that also
    reaches the generator. Twice, as such a gradient may be cleared late."""
    last: dict[int, tuple[CallFacts, LeafFacts]] = {}
    by_lines: dict[tuple[Source | None, Source | None], list[list[int]]] = {}
    run = facts.run
    for call in run.calls():
        if call.level == "call":
            last.clear()  # what came between is unknown
        if call.kind != "backward":
            continue
        leaves = {leaf.leaf: leaf for leaf in run.of_leaves(call.index)}
        for earlier in {last[leaf][0] for leaf in leaves if leaf in last}:
            if earlier.line != call.line:
                kept = _kept(earlier, leaves, last)
                if kept:
                    by_lines.setdefault((call.line, earlier.line), []).append(kept)
        last.update((leaf, (call, source)) for leaf, source in leaves.items())
    for (line, other), times in by_lines.items():
        if len(times) < _TIMES:
            continue
        names = tuple(run.leaves[leaf].name for leaf in times[0])
        yield LeftOver(leaves=names, source=line, other=other)


def _kept(
    earlier: CallFacts,
    leaves: Mapping[int, LeafFacts],
    last: Mapping[int, tuple[CallFacts, LeafFacts]],
) -> list[int]:
    """Return the leaves that still have the gradient of an ``earlier`` call, and are as they were
    then; nothing where no other one of that call has changed."""
    shared = [leaf for leaf in leaves if leaf in last and last[leaf][0].index == earlier.index]
    if not any(leaves[leaf].update_rms for leaf in shared):
        return []
    return [
        leaf
        for leaf in shared
        if leaves[leaf].update_rms == 0
        and leaves[leaf].before is not None
        and leaves[leaf].before_checksum == last[leaf][1].after_checksum
        and (after := last[leaf][1].after) is not None
        and after.rms > 0
    ]


RULES: Final = (Rule(left_over, code="stale-grad"),)
