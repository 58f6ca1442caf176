"""What a move did, in one line: what the last node sent, to whom, and what came of the sums."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from gradstep.debugger.errors import StepLost
from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot import Snapshot, Value
from gradstep.debugger.snapshot.value import value
from gradstep.debugger.snapshot.wording import short
from gradstep.graph.addresses import step_number
from gradstep.records import Delivery
from gradstep.text import plural

MOST = 4  # receivers that are named


def move_text(session: PassSession, start: int, stop: int) -> str:
    """Say what came of a move of ``session`` from position ``start`` to ``stop``; "" where it did
    not move, or where the steps are not known any more.
    """
    if start == stop:
        return ""
    back = stop < start
    last = stop if back else stop - 1
    count = abs(stop - start)
    if last >= len(session.cursor.history):
        return ""  # it went back to run otherwise
    try:
        text = _step(session, last, back=back)
    except StepLost:
        return ""
    if count == 1:
        return text
    verb = "went back over" if back else "ran"
    return f"{verb} {plural(count, 'node')}; {text}"


def phase_move_text(session: PassSession, before: Snapshot, now: Snapshot) -> str:
    """Say what came of a move of ``session`` to ``now`` that ended inside a node, or went back to
    before it from inside: the last phase that ran, or the first that was taken back."""
    back = (now.position, now.phase) < (before.position, before.phase)
    if now.phase:
        phases, place = session.cursor.phases, now.phase - (not back)
    else:
        phases, place = (() if before.current is None else before.current.phases), 0
    if place >= len(phases):
        return ""
    phase, name = phases[place], _name(session, now.position)
    edge = next(
        (
            outgoing
            for outgoing in session.detail(now.position).outgoing
            if phase.kind == "delivery" and outgoing.output_nr == phase.output_nr
        ),
        None,
    )
    if edge is None or edge.target is None:
        values = _change(phase.before, phase.after, back=back)
        return f"{'took back ' if back else ''}{name}: {phase.text} {values}"
    sums = _change(phase.before, phase.after, back=back)
    received = _sum_text(session, edge.target, edge.input_nr, sums)
    if back:
        return f"took back {name} → {received}"
    return f"{name} sent {_short(edge.value, 'undefined')} → {received}"


def _change(before: Sequence[Value | None], after: Sequence[Value | None], *, back: bool) -> str:
    ends = [", ".join(_short(value) for value in values) or "nothing" for values in (before, after)]
    return " → ".join(reversed(ends) if back else ends)


def _step(session: PassSession, index: int, *, back: bool) -> str:
    name = _name(session, index)
    leaf = session.leaf(index)
    if leaf is not None:
        now = _short(leaf.now)
        return f"took back {name}" if back else f"{name}: .grad {_short(leaf.before)} → {now}"
    sent = {
        delivery.output_nr: delivery for delivery in session.cursor.history.shown(index).deliveries
    }
    receivers: dict[tuple[int, int], list[Delivery]] = {}
    for edge in session.detail(index).outgoing:
        if edge.target is not None and edge.output_nr in sent:
            place = edge.target, edge.input_nr
            receivers.setdefault(place, []).append(sent[edge.output_nr])
    parts = [
        _received(session, *place, deliveries, back=back)
        for place, deliveries in islice(receivers.items(), MOST)
    ]
    if len(receivers) > MOST:
        parts.append(f"and to {len(receivers) - MOST} more")
    listed = ", ".join(parts) or "nothing"
    return f"took back {name}: {listed}" if back else f"{name} sent {listed}"


def _received(
    session: PassSession, target: int, input_nr: int, deliveries: Sequence[Delivery], *, back: bool
) -> str:
    """Say what arrived at one input, and, where that is a sum of several, what became of it."""
    gradients = " + ".join(_short(value(delivery.gradient), "undefined") for delivery in deliveries)
    ends = [value(deliveries[0].before)], [value(deliveries[-1].after)]
    return f"{gradients} → {_sum_text(session, target, input_nr, _change(*ends, back=back))}"


def _sum_text(session: PassSession, target: int, input_nr: int, change: str) -> str:
    """Name an input, and say what became of the sum there, unless that has one part."""
    leaf = session.leaf(target)
    name = _name(session, target) if leaf is None else leaf.name
    name += f" in {input_nr}" if input_nr else ""
    incoming = session.detail(target).incoming if leaf is None else ()
    total = leaf or next(arrival for arrival in incoming if arrival.input_nr == input_nr)
    if total.expected < 2:
        return name
    return f"{name} ({change}, {total.arrived} of {total.expected})"


def _name(session: PassSession, index: int) -> str:
    leaf = session.leaf(index)
    name = session.graph.address(index) if leaf is None else f"+= {leaf.name}"
    return f"{step_number(index)} {name}"


def _short(shown: Value | None, nothing: str = "None") -> str:
    return nothing if shown is None else short(shown.statistics)
