"""What hooks changed, place by place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from gradstep.capturing.gradients import HookPlace, describe
from gradstep.graph.model import HookChange
from gradstep.records import HookCall, HookKind, same_numbers


def changes_of(calls: Iterable[HookCall]) -> dict[HookPlace, HookChange]:
    """List what the hooks of one node changed, those at one place taken together."""
    changes: dict[HookPlace, HookChange] = {}
    for call in calls:
        if not call.changed:
            continue
        name = f"{call.kind} hook {call.name}"
        for nr, (before, after) in enumerate(zip(call.before, call.after, strict=False)):
            if same_numbers(before, after):
                continue
            place = HookPlace(_PLACES[call.kind], call.output_nr if call.kind == "tensor" else nr)
            known = changes.get(place)
            names, first = ((), describe(before)) if known is None else known[:2]
            changes[place] = HookChange((*names, name), first, describe(after))
    return changes


_PLACES: Mapping[HookKind, Literal["input", "output", "grad"]] = {
    "tensor": "input", "pre": "input", "post": "output", "accumulated": "grad",
}  # fmt: skip
