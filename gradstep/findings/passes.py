"""What a backward pass makes that is NaN or infinite: the pass runs, and where it makes such, once
more in a session that stops where that began."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from gradstep.capturing.names import Names
from gradstep.contract.lookup import engine_of_call
from gradstep.contract.protocol import Engine, Numbers
from gradstep.debugger.pass_session import PassSession
from gradstep.debugger.passes.recorded_pass import record_nested
from gradstep.engines.recorded import RecordedCall
from gradstep.findings.finding import Reason
from gradstep.findings.gradients_not_finite import (
    GradientsNotFinite,
    first_not_finite,
    not_finite_in,
)
from gradstep.findings.scaling import Scaling, scaling_of
from gradstep.guest.fence import carried_out
from gradstep.recording.run import Run
from gradstep.records import LEAF, BackwardCall, Gradients


class Passed(NamedTuple):
    """What is found of a pass that has run, and what its call returns to the program; whether it is
    ``finite``, and what scaled its loss."""

    reasons: tuple[Reason, ...]
    answer: bool | Gradients
    finite: bool
    scaling: Scaling | None


def run_pass(
    call: BackwardCall,
    find_names: Callable[[], Names],
    number: int,
    *,
    is_scaled: bool = True,
    is_calm: bool = False,
    explains: bool = True,
    look: Callable[[PassSession], None] = lambda session: None,
) -> Passed:
    """Carry out ``call``, number ``number`` of its kind, and find out whether its roots and the
    gradients that it makes are finite.

    Args:
        find_names: finds the names in the program, which takes a while.
        is_scaled: the program may have a scaler of losses.
        is_calm: no gradient is likely to overflow.
        explains: find out where that began; a pass without code of the program's then runs twice.
        look: is given the session that explains it, at its end.

    Raises:
        Exception: whatever the pass raises.
    """
    engine = engine_of_call(call)
    running = engine.running or engine.cannot("run a backward pass")
    scaling = None
    if is_scaled and (names := find_names()).scalers:
        scaling = scaling_of(names, _numbers(engine), engine.reading.plan(call.roots).order)

    def passed(reasons: Sequence[Reason], returned: Any, finite: bool = False) -> Passed:
        return Passed(tuple(reasons), returned if call.is_grad else True, finite, scaling)

    is_plain = not explains or (is_calm and scaling is None and running.keeps_finite(call))
    ran = None if is_plain else running.carry_out(
        call, lambda inner, nested: record_nested(inner, nested, find_names())
    )  # fmt: skip
    if ran is None:
        returned = carried_out(partial(running.run, call))
        is_finite = running.made_finite(call, returned)
    else:
        returned, is_finite = ran.result, ran.error is not None or ran.is_finite()
    trouble = None
    if not is_finite:
        order, names = engine.reading.plan(call.roots).order, find_names()
        trouble = not_finite_in(call, engine, order, names, returned)
        if names.scalers and scaling is None:
            scaling = scaling_of(names, _numbers(engine), order)
    if trouble is None:
        if ran is not None:
            ran.answer()
        return passed((), returned, finite=True)
    noted = trouble if scaling is None else scaling.note(trouble, call)
    if ran is None or (scaling is not None and not ran.runs_again):
        if ran is not None:
            ran.release()
        return passed([noted] if explains else (), returned)
    driver = ran.driver()
    if scaling is not None and _is_finite_without(scaling, call, names):
        return passed([noted], carried_out(partial(running.run, call)))
    session = PassSession.of_call(call, names=names, call=number, driver=driver)
    return passed([session.host(partial(_explained, session, trouble, look))], session.gradients)


def passed_in(session: PassSession, *, explains: bool) -> tuple[Passed, bool]:
    """Say what is not finite in a session that has come to the end of a call of ``backward``, and
    where that began if it ``explains``: it goes back in what it has recorded, and nothing runs
    twice. Where a scaler is at work, only another pass tells where; returns also whether that is
    wanted."""
    call, order = session.backward_call, session.order
    engine = engine_of_call(call)
    scaling = scaling_of(session.names, _numbers(engine), order)
    trouble = not_finite_in(call, engine, order, session.names, ())
    if trouble is None:
        return Passed((), True, True, scaling), False
    reason: Reason = trouble
    if scaling is not None:
        reason = scaling.note(trouble, call)
    elif explains:
        session.jump(0)
        reason = first_not_finite(session, trouble)
    return Passed((reason,), True, False, scaling), explains and scaling is not None


def made_in_recorded(run: Run, index: int) -> Reason | None:
    """Return what made the first gradient that is not finite in a call of a recording, which has it
    in full; None where all are finite."""
    call = RecordedCall(run, index)
    names = Names({leaf.name: leaf for leaf in call.leaves.values() if leaf.name})
    trouble = not_finite_in(call, engine_of_call(call), call.order, names, ())
    if trouble is None or not trouble.of_gradients:
        return None
    session = PassSession.of_call(call, names=names, call=call.number)
    return first_not_finite(session, trouble)


def _numbers(engine: Engine) -> Numbers:
    return engine.numbers or engine.cannot("look at gradients")


def _explained(
    session: PassSession, trouble: GradientsNotFinite, look: Callable[[PassSession], None]
) -> Reason:
    try:
        reason = first_not_finite(session, trouble)
        session.jump(session.length)
        look(session)
        return reason
    finally:
        session.finish()


def _is_finite_without(scaling: Scaling, call: BackwardCall, names: Names) -> bool:
    """Return whether the pass from a scaled loss is finite where the scale is taken out again."""
    seeds = [scaling.undone(seed) for seed in call.seeds]
    roots = [engine_of_call(call).reading.user_tensor(root) for root in call.roots]
    session = PassSession(roots, seeds, retain_graph=True, names=names)
    try:
        session.jump(session.length)
        sums = [
            incoming.total
            for index, node in enumerate(session.order)
            if node.kind == LEAF
            for incoming in session.inspector.incoming(index)
        ]
        finite = not any(total is not None and total.statistics.trouble for total in sums)
        return finite and session.cursor.error is None
    finally:
        session.abort()
