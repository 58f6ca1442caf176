"""What a recording tells of a leaf after the gradient was there: whether anybody used it."""

from __future__ import annotations

from collections.abc import Iterator

from gradstep.engines.recorded import RecordedCall
from gradstep.findings.facts.history import Seen
from gradstep.findings.reports.formatting import Row
from gradstep.graph.statistics import format_number
from gradstep.recording.facts import LeafFacts
from gradstep.recording.run import Run


def where_wrong(run: Run, name: str) -> int | None:
    """Return the index of the call in full in which the gradient of a leaf shows best that
    something is wrong with it, else of the first that came to it, or of all; None where there is
    none. ``name`` is the leaf's, or the end of it."""
    wanted = name.removesuffix(".grad")
    numbers = {
        leaf.number for leaf in run.leaves if f".{leaf.name}".endswith(f".{wanted}") or
        f".{wanted}".endswith(f".{leaf.name}")
    }  # fmt: skip
    full = [run.call(index) for index in run.full]
    seen = [Seen(call, facts) for call in full for facts in run.of_leaves(call.index)
            if facts.leaf in numbers and facts.after is not None]  # fmt: skip
    ranked = [
        *(one for one in seen if one.facts.is_troubled),
        *(one for one in seen if one.is_zero), *seen,
    ]  # fmt: skip
    chosen = ranked[0].call if ranked else full[0] if full else None
    return None if chosen is None else chosen.index


def afterwards(call: RecordedCall, name: str) -> Iterator[Row]:
    """Say how far the leaf ``name`` had changed by the next call that came to it, and if it had
    not, what is known of why."""
    run, index = call.run, call.index
    number = next((leaf.number for leaf in run.leaves if leaf.name == name), None)
    if number is None:
        return
    here: LeafFacts | None = None
    for at, facts in run.over_calls(number):
        if at == index:
            here = facts
        elif at > index:
            yield from _changed(run, at, name, facts, here)
            return


def _changed(
    run: Run, at: int, name: str, facts: LeafFacts, here: LeafFacts | None
) -> Iterator[Row]:
    if facts.update_rms is None:
        return
    until = run.call(at).title
    if facts.update_rms:
        yield "after", f"{name} changed by rms {format_number(facts.update_rms)} before {until}"
        return
    yield "after", f"{name} did not change before {until}"
    if here is not None and here.optimizer == "":
        yield "likely", "none of the optimizers that were recorded has it"
