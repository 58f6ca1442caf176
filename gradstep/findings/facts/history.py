"""What the calls of a run did to each leaf, line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from math import isfinite
from typing import TYPE_CHECKING, Final, NamedTuple

from gradstep.graph.model import Source
from gradstep.recording.facts import CallFacts, Leaf, LeafFacts

if TYPE_CHECKING:
    from gradstep.recording.run import Run


class Seen(NamedTuple):
    """A leaf in one call; whether that ``follows`` the one in which it was seen before, with none
    between whose leaves nobody described."""

    call: CallFacts
    facts: LeafFacts
    follows: bool = True

    @property
    def is_fresh(self) -> bool:
        """Whether its ``.grad`` was cleared before the call."""
        before = self.facts.before
        return before is None or before.rms == 0

    @property
    def is_zero(self) -> bool:
        """Whether the call added nothing but zeros."""
        after = self.facts.after
        if after is None or not after.size:
            return False
        if self.is_fresh:
            return after.zeros == after.size
        return self.facts.before_checksum == self.facts.after_checksum

    @property
    def gradient(self) -> float | None:
        """The root mean square of the gradient, None where it was added to another, or is not
        finite."""
        after = self.facts.after
        return after.rms if after is not None and self.is_fresh and not after.trouble else None

    @property
    def moved(self) -> float | None:
        """By how much of its size the leaf has changed since the call before that came to it; None
        where that is not finite, or the call is unknown."""
        if not self.follows:
            return None
        size, update = self.facts.parameter_rms, self.facts.update_rms
        share = None if update is None or not size else update / size
        return share if share is not None and isfinite(share) else None


def is_nothing(call: CallFacts, leaves: Sequence[LeafFacts]) -> bool:
    """Return whether a call had leaves, and added nothing but zeros to any."""
    return bool(leaves) and all(Seen(call, leaf).is_zero for leaf in leaves)


def is_trial(run: Run, title: str) -> bool:
    """Return whether a call of autograd.grad(), which changes no leaf, is one whose line gave
    finite numbers again, as where a sampler went too far."""
    calls = [call for call in run.calls() if call.kind == "grad"]
    own = next((call for call in calls if call.title == title), None)
    later = [] if own is None else [c for c in calls if c.line == own.line and c.index > own.index]
    return bool(later) and all(
        not call.is_troubled and isfinite(call.loss or 0.0) for call in later[-_LATER:]
    )


_LATER: Final = 3
"""Calls, the last ones of a line, that are to be finite again."""


class History(NamedTuple):
    """A leaf over all calls that came to it."""

    leaf: Leaf
    seen: tuple[Seen, ...]

    @property
    def pairs(self) -> Iterator[tuple[Seen, Seen]]:
        """The calls, each with the next one, as far as both are known."""
        return (pair for pair in pairwise(self.seen) if pair[1].follows)

    @property
    def lines(self) -> tuple[Source | None, ...]:
        """The lines of these calls, each once."""
        return tuple(dict.fromkeys(seen.call.line for seen in self.seen))


def histories(run: Run) -> Iterator[History]:
    """Yield the leaves of a run that a call of ``backward()`` came to."""
    every = list(run.calls())
    calls = {call.index: call for call in every if call.kind == "backward"}
    gaps = dict(zip(
        [call.index for call in every], accumulate(call.level == "call" for call in every),
        strict=True,
    ))  # fmt: skip
    for leaf in run.leaves:
        came = [
            (index, facts)
            for index, facts in run.over_calls(leaf.number)
            if index in calls and facts.arrived is not None
        ]
        if came:
            before = [came[0][0], *(index for index, _ in came)]
            yield History(
                leaf,
                tuple([
                    Seen(calls[index], facts, gaps[index] == gaps[last])
                    for (index, facts), last in zip(came, before, strict=False)
                ]),
            )  # fmt: skip


def lines_of(run: Run, *, leaves: bool = False) -> Iterator[tuple[Source | None, list[CallFacts]]]:
    """Yield the calls of ``backward()``, by the line that made them; with ``leaves`` those alone
    whose leaves were described."""
    by_line: dict[Source | None, list[CallFacts]] = {}
    for call in run.calls():
        if call.kind == "backward" and not (leaves and call.level == "call"):
            by_line.setdefault(call.line, []).append(call)
    yield from by_line.items()
