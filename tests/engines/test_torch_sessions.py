"""Sessions in PyTorch programs: the engine is halted, and all ends as without gradstep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from autograd_core.debug.session import Session  # noqa: E402
from autograd_core.program.calls import CallSelector, InterceptedCall, intercepting  # noqa: E402
from tests.engines.test_torch_graphs import each_program, run_whole  # noqa: E402

pytestmark = pytest.mark.torch
EVERY_CALL = CallSelector(None, ("backward", "grad"))
WALK = ("next 5", "back 3", "continue", "restart", "next", "continue")


def walk(session: Session) -> None:
    """Go to and fro; what is shown at a position is the same on every visit."""
    shown: dict[tuple[int, int], Any] = {}
    for line in WALK:
        reply = session.do(line)
        assert not reply.error, reply.text
        if session.length < 2_000:  # describing a chain of 20,000 nodes takes its time
            snapshot = session.snapshot
            if snapshot.error:
                continue
            seen = [(each.name, each.now, each.pending) for each in snapshot.leaves]
            assert shown.setdefault((len(session.frames), session.position), seen) == seen


def finish(session: Session, found: InterceptedCall) -> Any:
    session.finish()
    return session.gradients if found.call.is_grad else True


def session_of(found: InterceptedCall) -> Session:
    return Session.of_call(found.call, names=found.names, call=found.number)


@pytest.mark.parametrize("hosted", [True, False], ids=["in the program's thread", "in its own"])
@each_program
def test_a_program_that_is_stepped_through_ends_as_it_does_plainly(
    program: Callable[[], Any], hosted: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    def handle(found: InterceptedCall) -> Any:
        session = session_of(found)
        if not hosted:
            walk(session)
            return finish(session, found)

        def body() -> Any:
            walk(session)
            return finish(session, found)

        return session.host(body)

    plain = run_whole(program)
    printed = capsys.readouterr()
    with intercepting(handle, EVERY_CALL):
        stepped = run_whole(program)
    assert stepped == plain
    assert capsys.readouterr() == printed
