"""The places where a property of a gradient began: followed back from it to the loss."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Literal

from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot import Contribution, Incoming, Value

Holds = Callable[[Value | None], bool]


@dataclass(frozen=True, slots=True)
class Birth:
    """A gradient is so because of what happened at plan node ``index``: it computed one along
    ``output_nr``, a hook there made it so, several came to such a sum, the user changed it, or
    ``backward`` was given it.  ``text`` names the hook or the change."""

    kind: Literal["node", "hook", "sum", "edit", "seed"]
    index: int
    output_nr: int = 0
    text: str = ""
    value: Value | None = None


def births(session: PassSession, index: int, holds: Holds, *, every: bool) -> Iterator[Birth]:
    """Find where it began that ``holds`` is true of what arrives at node ``index``, the nearest
    first.

    With ``every``, a sum is so if all of its parts are, as with zeros; else if one is, as with NaN.
    """
    seen, heap = {index}, [-index]
    while heap:
        at = -heappop(heap)
        for incoming in session.inspector.incoming(at):
            if not holds(incoming.total):
                continue
            if changed := _edit(session, at):
                yield Birth("edit", at, text=changed, value=incoming.total)
                continue
            parts = _parts(incoming)
            so = [part for part in parts if holds(part.value)]
            if parts and (len(so) < len(parts) if every else not so):
                yield Birth("sum", at, incoming.input_nr, value=incoming.total)
                continue
            for part in so:
                producer = part.producer
                if producer is None:
                    yield Birth("seed", at, value=part.value)
                elif producer not in seen:
                    seen.add(producer)
                    birth = _made_by(session, producer, part, holds, every)
                    if birth is None:
                        heappush(heap, -producer)
                    else:
                        yield birth


def _edit(session: PassSession, index: int) -> str:
    changes = [record.text for record in session.edit.records if record.index == index]
    return changes[-1] if changes else ""


def _parts(incoming: Incoming) -> list[Contribution]:
    """Return the parts of a sum; of one that is defined, undefined ones add nothing."""
    if incoming.total is None:
        return list(incoming.contributions)
    return [part for part in incoming.contributions if part.value is not None]


def _made_by(
    session: PassSession, index: int, part: Contribution, holds: Holds, every: bool
) -> Birth | None:
    """Return how node ``index`` made what it sent so; None where what it was given is so."""
    given = [incoming.total for incoming in session.inspector.incoming(index)]
    so = [holds(value) for value in given]
    if so and (all(so) if every else any(so)):
        return None
    if text := hook_that_made(session, index, holds):
        return Birth("hook", index, part.output_nr, text, part.value)
    return Birth("node", index, part.output_nr, value=part.value)


def hook_that_made(session: PassSession, index: int, holds: Holds) -> str:
    """Name the hook of node ``index`` that made a gradient so, "" where none did."""
    for phase in session.phases(index):
        is_born = any(map(holds, phase.after)) and not any(map(holds, phase.before))
        if is_born and phase.kind == "hook":
            return phase.text
    return ""
