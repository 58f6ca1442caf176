"""A program that is stepped through ends as a plain run, on the core and on PyTorch."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

import autograd_core
from autograd_core.dag.names import Names
from autograd_core.debug.history.observed_pass import ObservedPass
from autograd_core.debug.reports.why import why
from autograd_core.debug.session import Session
from autograd_core.engines.attach import attached

pytorch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.torch


@pytest.fixture(params=["core", "torch"])
def torch(request: pytest.FixtureRequest) -> Any:
    return {"core": autograd_core, "torch": pytorch}[request.param]


def backward_inside(torch: Any, add: Callable[[], None]) -> Any:
    """Return an op that is the identity, and calls ``add`` in its backward."""

    class Inside(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1.0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            with torch.enable_grad():
                add()
            return g

    return Inside.apply


def with_passes_inside(torch: Any, *, before: bool = False, shared: bool = True) -> SimpleNamespace:
    """Build a loss in whose pass ``w`` gets 0.25 twice from passes inside, and, if ``shared``,
    from the pass itself."""
    w = torch.ones(2, requires_grad=True)
    x = torch.ones(2, requires_grad=True)
    if before:
        w.grad = torch.full((2,), 8.0)
    inside = backward_inside(torch, lambda: (w * 0.25).sum().backward())
    y = inside(inside(x).sin()) * (w if shared else w.detach())
    return SimpleNamespace(loss=y.sum(), w=w, x=x)


def state(program: SimpleNamespace) -> list[Any]:
    return [None if t.grad is None else t.grad.tolist() for t in (program.w, program.x)]


WALKS = {
    "catch": ["catch nan", "continue"],
    "logpoint": ["logpoint mul rms {rms}", "continue"],
    "break": ["break mul", *["continue"] * 8],
    "back": ["break mul", "continue", "continue", "reverse-continue", *["continue"] * 8],
    "again": ["continue", "restart", "continue", "back 3", "continue"],
    "changed": ["next 3", "scale 2", "undo", "continue", "restart", "scale 2", "undo"],
}


@pytest.mark.parametrize("before", [False, True], ids=["no .grad", "a .grad"])
@pytest.mark.parametrize("shared", [False, True], ids=["inside only", "shared"])
@pytest.mark.parametrize("walk", WALKS)
def test_what_passes_inside_add_stays(torch: Any, walk: str, shared: bool, before: bool) -> None:
    plain = with_passes_inside(torch, before=before, shared=shared)
    plain.loss.backward()
    program = with_passes_inside(torch, before=before, shared=shared)
    with attached():
        session = Session(program.loss, names={"w": program.w, "x": program.x})
        for line in WALKS[walk]:
            session.do(line)
        session.finish()
    assert state(program) == state(plain)


@pytest.mark.parametrize("before", [False, True], ids=["no .grad", "a .grad"])
def test_a_leaf_shows_what_passes_inside_added_from_there_on(torch: Any, before: bool) -> None:
    program = with_passes_inside(torch, before=before)
    session = Session(program.loss, names={"w": program.w, "x": program.x})
    session.continue_()
    by_name = {leaf.name: leaf.index for leaf in session.snapshot.leaves}
    shown = []
    for position in range(session.length + 1):
        session.jump(position)
        leaf = session.leaf(by_name["w"])
        assert leaf is not None
        first = None if leaf.before is None else leaf.before.array[0]
        shown.append((first, None if leaf.now is None else leaf.now.array[0]))
    start = 8.0 if before else None
    assert {first for first, _ in shown} == {start}
    moves = [now for _, now in shown]
    assert moves[0] == start
    last = program.w.grad.tolist()[0]
    assert moves[-1] == last
    own = last - 0.5 - (start or 0.0)
    added = [(b or 0.0) - (a or 0.0) for a, b in pairwise(moves) if a != b]
    assert sorted(added) == pytest.approx(sorted([0.25, 0.25, own]))
    session.abort()
    assert state(program) == [None if start is None else [8.0, 8.0], None]


def test_a_picture_of_gradients_leaves_no_trace_of_passes_inside(torch: Any) -> None:
    for before in (False, True):
        program = with_passes_inside(torch, before=before)
        was = state(program)
        call = Session(program.loss, names={}).backward_call
        with ObservedPass(call, Names({})) as observed:
            observed.run()
        assert state(program) == was


def test_a_pass_of_another_graph_is_left_alone_while_one_is_halted(torch: Any) -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    session = Session((w * w).sum(), names={"w": w})
    session.next(1)
    (w * 3.0).sum().backward()  # it would wait for ever
    assert w.grad.tolist() == [3.0, 3.0]
    session.finish()
    assert w.grad.tolist() == [5.0, 7.0]


def test_sessions_of_one_graph_do_not_wait_for_each_other(torch: Any) -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    loss = (w * w).sum()
    first = Session(loss, retain_graph=True, names={"w": w})
    first.next(2)
    second = Session(loss, retain_graph=True, names={"w": w})
    second.next(1)
    first.continue_()
    second.continue_()
    assert "w.grad" in str(why(loss, w, names={"w": w}))
    second.finish()
    first.finish()
    assert w.grad.tolist() == [4.0, 8.0]


def test_a_session_that_is_dropped_leaves_no_thread_and_no_hook() -> None:
    w = pytorch.ones(3, requires_grad=True)
    threads = threading.active_count()
    for _ in range(20):
        session = Session((w * w).sum(), names={})
        session.next(2)
        del session
    gc.collect()
    until = time.monotonic() + 20
    while threading.active_count() > threads and time.monotonic() < until:
        time.sleep(0.01)
    assert threading.active_count() == threads
    w.grad = None
    (w * 3.0).sum().backward()
    assert w.grad.tolist() == [3.0] * 3


def test_why_does_not_say_that_the_loss_lacks_what_only_passes_inside_reach(torch: Any) -> None:
    program = with_passes_inside(torch, shared=False)
    found = why(program.loss, program.w, names={"w": program.w})
    assert found.verdict == "unknown"
    assert "not known" in found.headline
    shared = with_passes_inside(torch)
    found = why(shared.loss, shared.w, names={"w": shared.w})
    assert found.verdict == "ordinary"
    assert any("calls backward() itself" in text for _, text in found.rows)
