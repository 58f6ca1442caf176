"""The phases of a node: hooks, formula, reduction, delivery along each edge, accumulation.

All of it follows from the record of the node, so that nothing is paid as long as nobody steps
inside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from gradstep.contract.driver import Driver, NodeEffects, Pending
from gradstep.debugger.history.contributions import PassState
from gradstep.debugger.snapshot import Phase, Value
from gradstep.debugger.snapshot.value import value
from gradstep.records import LEAF, HookCall, Place, Step

Values = tuple[Value | None, ...]


def phases_of(step: Step, effects: NodeEffects | None, driver: Driver) -> tuple[Phase, ...]:
    """Return the phases of ``step``, in the order in which they happened.

    Args:
        effects: what is known of its hooks.
    """
    calls = () if effects is None else effects.calls
    phases = [_hook(call) for call in calls if call.kind in ("tensor", "pre")]
    for place, gradient in step.captured:
        nr = getattr(place, "nr", 0)
        phases.append(Phase("capture", "taken by grad()", (), (value(gradient),), nr))
    if step.node.kind == LEAF:
        return (*phases, *_accumulation(step, calls))
    if step.captured and not step.deliveries:
        return tuple(phases)
    phases += _computation(step, calls, driver)
    for delivery in step.deliveries:
        if delivery.edge is not None:
            before, after = value(delivery.before), value(delivery.after)
            text = f"delivery along edge {delivery.output_nr}"
            phases.append(Phase("delivery", text, (before,), (after,), delivery.output_nr))
    return tuple(phases)


def _hook(call: HookCall) -> Phase:
    text = f"{call.kind} hook {call.name}"
    return Phase("hook", text, _values(call.before), _values(call.after), call.output_nr)


def _values(gradients: Iterable[Any]) -> Values:
    return tuple(map(value, gradients))


def _accumulation(step: Step, calls: Sequence[HookCall]) -> list[Phase]:
    later = [call for call in calls if call.kind == "accumulated"]
    added = later[0].before[0] if later else step.after
    text = "accumulation into .grad"
    phases = [Phase("accumulation", text, (value(step.before),), (value(added),))]
    return phases + [_hook(call) for call in later]


def _computation(step: Step, calls: Sequence[HookCall], driver: Driver) -> list[Phase]:
    later = [call for call in calls if call.kind == "post"]
    reduced = later[0].before if later else [delivery.gradient for delivery in step.deliveries]
    raw = driver.leaves.unreduced(step)
    received = _values(step.hooked)
    if raw is None:
        phases = [Phase("formula", "formula", received, _values(reduced))]
    else:
        phases = [Phase("formula", "formula", received, _values(raw))]
        for nr, (full, part) in enumerate(zip(raw, reduced, strict=True)):
            if full is None or part is None:
                continue
            if np.shape(full) != np.shape(part) or full.dtype != part.dtype:
                text = f"reduction to the shape of input {nr}"
                phases.append(Phase("reduction", text, (value(full),), (value(part),), nr))
    return phases + [_hook(call) for call in later]


def state_in(position: int, phases: Sequence[Phase], done: int) -> PassState:
    """Return how far the pass is when ``done`` of the phases of node ``position`` are over."""
    over = phases[:done]
    sent = [p.output_nr for p in over if p.kind == "delivery" and p.output_nr is not None]
    accumulated = any(phase.kind == "accumulation" for phase in over)
    return PassState(position, done > 0, max(sent, default=-1) + 1, accumulated)


def show_partly(
    step: Step,
    inputs: Iterable[tuple[Place, Any]],
    phases: Sequence[Phase],
    done: int,
    pending: Pending,
    waited: Iterable[tuple[Place, Any]],
) -> None:
    """Make ``pending``, as it was before ``step``, what it is after ``done`` of its phases; of them
    hooks changed in place what ``waited`` elsewhere."""
    over = phases[:done]
    pending.update(waited)
    if any(phase.kind in ("formula", "accumulation", "capture") for phase in over):
        for place, _ in inputs:
            pending[place] = None
    sent = {phase.output_nr for phase in over if phase.kind == "delivery"}
    for delivery in step.deliveries:
        if delivery.edge is not None and delivery.output_nr in sent:
            pending[delivery.edge] = delivery.after
