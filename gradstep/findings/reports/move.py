"""What a move did, in one line: what the last node sent, to whom, and what came of the sums."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from gradstep.debugger.errors import StepLost
from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.snapshot import Value
from gradstep.debugger.snapshot.value import value
from gradstep.debugger.snapshot.wording import short
from gradstep.graph.addresses import step_number
from gradstep.records import Delivery
from gradstep.text import plural

MOST = 4  # receivers that are named


def move_text(session: PassSession, start: int, stop: int) -> str:
    """Say what came of a move of ``session`` from position ``start`` to ``stop``; "" where it did
    not move, or where the steps are not known any more.

    >>> import autograd_core as torch
    >>> from gradstep.debugger import Session
    >>> w = torch.tensor(3.0, requires_grad=True)
    >>> session = Session(w * w, names={"w": w})
    >>> _ = session.next()
    >>> move_text(session, 0, 1)
    '#1 mul:1 sent 3 + 3 → w (None → 6, 2 of 2)'
    >>> _ = session.back()
    >>> move_text(session, 1, 0)
    'took back #1 mul:1: 3 + 3 → w (6 → None, 0 of 2)'
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


def _step(session: PassSession, index: int, *, back: bool) -> str:
    name = _name(session, index)
    leaf = session.leaf(index)
    if leaf is not None:
        now = _short(leaf.now)
        return f"took back {name}" if back else f"{name}: .grad {_short(leaf.before)} → {now}"
    sent = {each.output_nr: each for each in session.cursor.history.shown(index).deliveries}
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
    gradients = " + ".join(_short(value(each.gradient), "undefined") for each in deliveries)
    leaf = session.leaf(target)
    name = _name(session, target) if leaf is None else leaf.name
    name += f" in {input_nr}" if input_nr else ""
    incoming = session.detail(target).incoming if leaf is None else ()
    total = leaf or next(each for each in incoming if each.input_nr == input_nr)
    if total.expected < 2:
        return f"{gradients} → {name}"
    ends = [_short(value(deliveries[0].before)), _short(value(deliveries[-1].after))]
    before, after = reversed(ends) if back else ends
    return f"{gradients} → {name} ({before} → {after}, {total.arrived} of {total.expected})"


def _name(session: PassSession, index: int) -> str:
    leaf = session.leaf(index)
    name = session.graph.address(index) if leaf is None else f"+= {leaf.name}"
    return f"{step_number(index)} {name}"


def _short(shown: Value | None, nothing: str = "None") -> str:
    return nothing if shown is None else short(shown.statistics)
