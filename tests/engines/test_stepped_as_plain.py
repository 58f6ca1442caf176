"""A program that is stepped through ends as a plain run, on the core and on PyTorch."""

from __future__ import annotations

import contextlib
import gc
import os
import random
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

import autograd_core
from gradstep import trace
from gradstep.capturing.names import Names
from gradstep.console.session import Session
from gradstep.debugger.breakpoints import Breakpoints
from gradstep.debugger.history.observed_pass import ObservedPass
from gradstep.debugger.passes import recorded_pass
from gradstep.engines.pytorch.attach import attached
from gradstep.findings.reports.why import why
from gradstep.program.calls import (
    CallSelector,
    InterceptedCall,
    intercepting,
    run_and_capture,
)
from tests.waiting import let_pass, until

pytorch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytestmark = pytest.mark.torch
engine_thread = pytest.importorskip("gradstep.engines.pytorch.stepping.engine_thread")
checkpoint = pytest.importorskip("torch.utils.checkpoint").checkpoint


def checkpoint_of(torch: Any) -> Any:
    return checkpoint if torch is pytorch else autograd_core.utils.checkpoint.checkpoint


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
            session.reply(line)
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
    until(lambda: threading.active_count() == threads)
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


def with_an_optimizer_inside(torch: Any, form: str = "whole") -> SimpleNamespace:
    """Build a loss whose pass steps ``w``: while earlier nodes still need what they saved of it, or
    in a pass inside, which alone comes to it."""
    w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = torch.ones(3, requires_grad=True)

    def step(p: Any) -> None:
        with torch.no_grad():
            p.sub_(0.1 * p.grad)
        p.grad = None

    w.register_post_accumulate_grad_hook(step)
    if form == "inside":
        loss = checkpoint_of(torch)(lambda y: y * w, x, use_reentrant=True).sum()
        return SimpleNamespace(loss=(loss * x).sum(), w=w, x=x)
    used = w[1:] if form == "view" else w
    return SimpleNamespace(loss=(used * x[: len(used)] * used).sum(), w=w, x=x)


@pytest.mark.parametrize("form", ["whole", "view", "inside"])
@pytest.mark.parametrize(
    "walk",
    [
        ["continue", "restart", "continue"],
        ["continue", "back 2", "next 1", "restart"],
        ["continue", "restart", "scale 2", "continue", "undo"],
        ["next 2", "scale 1", "diff", "continue", "undo"],
    ],
)
def test_an_optimizer_in_the_pass_steps_once(torch: Any, walk: list[str], form: str) -> None:
    plain = with_an_optimizer_inside(torch, form)
    plain.loss.backward()
    program = with_an_optimizer_inside(torch, form)
    session = Session(program.loss, names={"w": program.w, "x": program.x}, history_bytes=0)
    replies = [session.reply(line) for line in walk]
    if torch is pytorch and ("scale 2" in walk or "diff" in walk):
        assert any(reply.error and "parameters" in reply.text for reply in replies)
    else:
        assert not any("defect" in reply.text for reply in replies)
        for record in session.edit.records:
            assert record.text.startswith("scale")
            session.edit.undo()
    session.finish()
    assert program.w.tolist() == plain.w.tolist()
    assert state(program) == state(plain)


def with_a_hook_that_doubles(torch: Any, *, late: bool) -> SimpleNamespace:
    """Build a loss in whose pass a hook doubles ``w.grad``, ahead of the node of ``w``, or behind
    it."""
    w, x = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))

    def double(g: Any) -> None:
        if w.grad is not None:
            with torch.no_grad():
                w.grad.mul_(2)

    if late:
        hooked = x.sin()
        loss = (hooked.exp() * w).sum()
    else:
        w.grad = torch.full((2,), 8.0)
        hooked = (w * x).sin()
        loss = hooked.exp().sum()
    hooked.register_hook(double)
    return SimpleNamespace(loss=loss, w=w, x=x)


@pytest.mark.parametrize("late", [False, True], ids=["ahead of its leaf", "behind it"])
@pytest.mark.parametrize("traced", [False, True], ids=["not traced", "traced"])
def test_an_edit_is_true_or_refused_where_a_hook_changes_another_grad(
    torch: Any, traced: bool, late: bool
) -> None:
    plain = with_a_hook_that_doubles(torch, late=late)
    plain.loss.backward()
    with trace() if traced else contextlib.nullcontext():
        programs = [with_a_hook_that_doubles(torch, late=late) for _ in range(2)]
    rows: list[list[Any]] = []
    for program, walk in zip(programs, ("continue", "next"), strict=True):
        session = Session(program.loss, names={"w": program.w, "x": program.x})
        while session.position < session.length:
            session.reply(walk)
        rows.append([])
        for position in range(session.length):
            session.jump(position)
            rows[-1] += [leaf.now and leaf.now.array.tolist() for leaf in session.snapshot.leaves]
        session.jump(session.length - 3)
        if not session.reply("scale 1").error:
            session.reply("continue")
            assert state(program) == state(plain)
            session.reply("undo")
        session.finish()
        assert state(program) == state(plain)
    if traced or torch is autograd_core:
        assert rows[0] == rows[1]


def test_a_grad_of_the_program_is_what_is_shown_or_that_is_said(torch: Any) -> None:
    program = with_passes_inside(torch)
    session = Session(program.loss, names={"w": program.w, "x": program.x})
    session.reply("continue")
    for position in reversed(range(session.length + 1)):
        session.jump(position)
        by_name = {leaf.name: leaf.now for leaf in session.snapshot.leaves}
        shown = [None if (now := by_name[x]) is None else now.array.tolist() for x in ("w", "x")]
        said = "in the program, each .grad is as it was after" in session.reply("info leaves").text
        assert said == (torch is pytorch and position < session.length)
        assert said or shown == state(program)
    session.finish()


@pytest.mark.parametrize(
    "walk", [["clip 0.1", "continue", "undo"], ["next 4", "restart", "scale 1"]]
)
def test_what_a_hook_makes_a_grad_of_is_put_back_for_others(torch: Any, walk: list[str]) -> None:
    def run(walk: list[str]) -> list[float]:
        a, b = (torch.tensor([0.5, 2.0], requires_grad=True) for _ in range(2))
        b.grad = torch.ones(2)  # b takes no part in the pass

        def give(g: Any) -> None:
            a.grad = b.grad

        y = a.sin()
        y.register_hook(give)
        with intercepting(walked(walk), EVERY):
            y.sum().backward()
        numbers: list[float] = b.grad.tolist()
        return numbers

    assert run(walk) == run([])


@pytest.mark.parametrize("traced", [False, True], ids=["not traced", "traced"])
@pytest.mark.parametrize("back", ["restart", "jump 5"])
def test_a_pass_inside_a_hook_where_grad_ends_is_made_once(
    torch: Any, back: str, traced: bool
) -> None:
    def run(*walk: str) -> list[float]:
        a, b, x = (torch.tensor([0.5, 2.0], requires_grad=True) for _ in range(3))

        def inside(g: Any) -> None:
            with torch.enable_grad():
                (b * 0.5).sum().backward()

        with trace() if traced else contextlib.nullcontext():
            y = x.sin().exp()
            a.register_hook(inside)
            y.register_hook(inside)  # runs right behind it
            loss = (a * y).sum()

        def debugged(found: InterceptedCall) -> Any:
            session = Session.of_call(found.call, names=found.names)
            for line in walk:
                session.reply(line)  # a change may be refused
            session.finish()
            return session.gradients

        with intercepting(debugged, EVERY):
            torch.autograd.grad(loss, [a, x])
        numbers: list[float] = b.grad.tolist()
        return numbers

    assert run("jump end", back, "scale 1") == run()


def test_a_call_inside_that_nothing_leads_to_raises_as_plainly(torch: Any) -> None:
    x, b, c = (torch.ones(2, requires_grad=True) for _ in range(3))
    c.requires_grad_(False)

    def inside(g: Any) -> None:
        with torch.enable_grad():
            torch.autograd.grad((b * c).sum(), [c])[0]

    def run() -> str:
        y = x.sin()
        y.register_hook(inside)
        try:
            y.sum().backward()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return ""

    plain = run()
    with intercepting(walked([]), EVERY):
        assert run() == plain
    assert plain.startswith("RuntimeError")


def test_what_a_call_inside_raises_behind_its_last_node_is_raised(torch: Any) -> None:
    x, b = (torch.ones(2, requires_grad=True) for _ in range(2))

    def refuse(g: Any) -> None:
        raise LookupError("refused")

    b.register_hook(refuse)  # runs where grad takes what arrives, behind the product

    def inside(g: Any) -> None:
        with torch.enable_grad():
            torch.autograd.grad((b * b).sum(), [b])

    y = x.sin()
    y.register_hook(inside)
    with intercepting(walked([]), EVERY), pytest.raises(LookupError, match="refused"):
        y.sum().backward()


def test_a_step_that_cannot_be_computed_again_is_told() -> None:
    w = pytorch.tensor([1.0, 2.0], requires_grad=True)
    y = w.exp()
    z = y.sin()

    def overwrite(g: Any) -> None:
        w.detach().zero_()

    y.register_hook(overwrite)
    session = Session((z * w).sum(), names={"w": w}, history_bytes=0)
    while session.position < session.length:
        session.next()
    reply = session.reply("restart")
    assert reply.error
    assert "cannot run again" in reply.text
    assert "defect" not in reply.text


def test_a_slow_node_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_thread, "_PATIENCE", 0.01)
    x = pytorch.ones(2, requires_grad=True)
    y = x.exp()
    y.register_hook(lambda g: let_pass(0.2))
    session = Session(y.sum(), names={})
    session.continue_()
    assert session.position == session.length
    session.finish()


def test_nobody_waits_for_a_thread_that_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_thread, "_PATIENCE", 0.01)
    thread = engine_thread.EngineThread()
    assert thread.start(lambda: None)
    thread.drop()
    with pytest.raises(RuntimeError, match="has ended"):
        thread.start(lambda: None)


def test_nobody_waits_for_an_engine_that_another_session_halts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engine_thread, "_PATIENCE", 0.01)
    one, other = engine_thread.EngineThread(), engine_thread.EngineThread()
    with pytest.raises(RuntimeError, match="another session"):
        one.start(other.halt)
    other.drop()
    one.drop()


def test_a_thread_whose_state_cannot_be_had_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    thread = engine_thread.EngineThread()

    def refuse(self: Any) -> Any:
        raise ValueError("no such device")

    monkeypatch.setattr(engine_thread.ThreadState, "applied", refuse)
    with pytest.raises(ValueError, match="no such device"):
        thread.start(lambda: None)


def random_ops(seed: int) -> tuple[Any, Any, Any]:
    """Build a loss from one leaf by random ops; returns it, a value on the way, and the leaf."""
    choice = random.Random(seed)
    pytorch.manual_seed(seed)
    w = pytorch.randn(7, requires_grad=True)
    values = [w, w.sin()]
    for _ in range(choice.randint(4, 12)):
        a, b = choice.choice(values), choice.choice(values)
        ops = (lambda: a * b, a.sin, lambda: (a * 0.3).exp(), lambda: a + b.cos(), a.tanh)  # noqa: B023
        values.append(choice.choice(ops)())
    return sum(each.sum() for each in values[-4:]), values[-1], w


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("walk", [[], ["next 3", "continue"], ["continue", "restart"]])
def test_gradients_of_gradients_are_bit_identical_after_stepping(walk: list[str]) -> None:
    def gradients(seed: int, stepped: bool) -> list[Any]:
        loss, later, w = random_ops(seed)
        if stepped:
            session = Session(loss, create_graph=True, names={})
            for line in walk:
                session.reply(line)
            session.finish()
        else:
            loss.backward(create_graph=True)
        first, w.grad = w.grad, None
        (first * w.sin() + later * first * first + w.cos() * first).sum().backward()
        return [first.tolist(), w.grad.tolist()]

    for seed in range(20):
        assert gradients(seed, stepped=True) == gradients(seed, stepped=False), seed


def test_a_node_for_which_anomaly_mode_raises_has_not_run(torch: Any) -> None:
    x = torch.zeros(3, requires_grad=True)
    session = Session((x.sqrt() * 0.0).sum(), names={"x": x})
    with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session.continue_()
        assert session.graph.address(session.position) == "sqrt:1"
        assert "sqrt:1 raised RuntimeError" in session.certificate().text(session.graph)
        with pytest.raises(RuntimeError, match="nan"):
            session.finish()
    assert x.grad is None


def test_a_node_at_which_anomaly_mode_cannot_look_has_not_run(
    capsys: pytest.CaptureFixture[str],
) -> None:
    x = pytorch.nested.nested_tensor([pytorch.ones(2), pytorch.ones(3)], requires_grad=True)
    session = Session(pytorch.nested.to_padded_tensor(x * 2.0, 0.0).sum(), names={})
    with pytorch.autograd.set_detect_anomaly(True), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session.continue_()
        assert session.graph.stem(session.position) == "to_padded_tensor"
        with pytest.raises(NotImplementedError):
            session.finish()
    assert "defect" not in capsys.readouterr().err


def test_a_pass_in_which_an_optimizer_steps_is_not_certifiable() -> None:
    program = with_an_optimizer_inside(pytorch)
    session = Session(program.loss, names={})
    session.continue_()
    assert session.certificate().text(session.graph).startswith("not certifiable: parameters")
    session.finish()


def test_to_certify_runs_no_pass_inside_once_more(torch: Any) -> None:
    program = with_passes_inside(torch)
    session = Session(program.loss, names={})
    session.continue_()
    before = state(program)
    session.certificate()
    assert state(program) == before
    session.finish()
    assert state(program) == before


def test_a_pass_that_raises_at_its_end_leaves_no_thread() -> None:
    threads = threading.active_count()
    x = pytorch.ones(2, requires_grad=True)
    y = x.exp()
    y.register_hook(lambda g: 1 / 0)
    session = Session(y.sum(), names={})
    with pytest.raises(ZeroDivisionError):
        session.finish()
    assert threading.active_count() == threads
    session.abort()


def with_a_hook_that_writes_gradients(torch: Any, *, before: bool) -> SimpleNamespace:
    """Build a loss in whose pass a hook changes ``.grad`` of leaves: in place, and anew."""
    w, x = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    if before:
        w.grad, x.grad = torch.full((2,), 8.0), torch.full((2,), 4.0)
    y = x.sin()

    def write(g: Any) -> None:
        with torch.no_grad():
            w.grad = torch.ones(2) if w.grad is None else w.grad.mul_(0.5)
            x.grad = None if x.grad is None else x.grad * 0.25

    y.register_hook(write)
    return SimpleNamespace(loss=((y * w).exp() * w).sum(), w=w, x=x)


@pytest.mark.parametrize("before", [False, True], ids=["no .grad", "a .grad"])
def test_what_hooks_write_into_grad_is_shown_and_undone(torch: Any, before: bool) -> None:
    plain = with_a_hook_that_writes_gradients(torch, before=before)
    plain.loss.backward()
    program = with_a_hook_that_writes_gradients(torch, before=before)
    start = state(program)
    session = Session(program.loss, names={"w": program.w, "x": program.x})

    def rows() -> list[Any]:
        found = session.snapshot.leaves
        return [
            (leaf.name, *(None if v is None else v.array.tolist() for v in (leaf.before, leaf.now)))
            for leaf in found
        ]

    forward = [rows()]
    while session.position < session.length:
        session.next()
        forward.append(rows())
    assert {name: now for name, _, now in forward[-1]} == dict(
        zip(("w", "x"), state(plain), strict=True)
    )
    for position in reversed(range(session.length + 1)):
        session.jump(position)
        assert rows() == forward[position]
    session.continue_()
    session.finish()
    assert state(program) == state(plain)
    again = with_a_hook_that_writes_gradients(torch, before=before)
    session = Session(again.loss, names={})
    session.continue_()
    session.abort()
    assert state(again) == start


def test_what_is_computed_again_sends_nothing_out_of_a_restricted_pass() -> None:
    x, w = (pytorch.ones(2, requires_grad=True) for _ in range(2))
    loss = (x.sin() + (x * x * w)).sum() + pytorch.cat([x[:1], w[1:]]).sum()
    seen: dict[int, list[list[Any]]] = {}
    for budget in (0, 2**30):

        def handle(found: InterceptedCall, budget: int = budget) -> bool:
            session = Session.of_call(found.call, names=found.names, history_bytes=budget)

            def body() -> None:
                while session.position < session.length:
                    session.next()
                seen[budget] = [
                    [each.gradient is not None for each in step.deliveries]
                    for step in session.steps
                ]
                assert session.certificate().text(session.graph).startswith("certified")
                session.finish()

            session.host(body)
            return True

        with attached(), intercepting(handle, CallSelector(1)):
            loss.backward(inputs=[w], retain_graph=True)
    assert seen[0] == seen[2**30]


@pytest.mark.parametrize("end", ["finish", "abort"])
def test_a_lost_step_does_not_end_the_program(end: str) -> None:
    def loss() -> Any:
        w = pytorch.tensor([1.0, 2.0], requires_grad=True)
        y = w.exp()
        z = y.sin()

        def overwrite(g: Any) -> None:
            w.detach().zero_()

        y.register_hook(overwrite)
        return (z * w).sum(), w

    plain, w = loss()
    plain.backward()
    stepped, other = loss()
    session = Session(stepped, names={}, history_bytes=0)
    while session.position < session.length:
        session.next()
    assert session.reply("restart").error
    getattr(session, end)()
    if end == "abort":
        assert other.grad is None
    else:
        assert other.grad.tolist() == w.grad.tolist()


def test_what_a_hook_behind_a_node_made_is_never_computed_again() -> None:
    x = pytorch.tensor([1.0, 2.0], requires_grad=True)
    y = x.sin()
    y.grad_fn.register_hook(lambda sent, arrived: tuple(g * 3.0 for g in sent))
    session = Session((y.exp() * 2.0).sum(), names={"x": x}, history_bytes=0)
    while session.position < session.length:
        session.next()
    sent = [each.gradient for each in session.steps[-2].deliveries]
    assert pytorch.equal(sent[0], x.grad)
    assert session.certificate().text(session.graph).startswith("certified")
    session.finish()


@pytest.mark.parametrize("walk", [[], ["next 2"], ["continue", "restart", "break pow", "continue"]])
def test_what_a_stepped_pass_kept_goes_with_its_end(walk: list[str]) -> None:
    points = Breakpoints()
    results = []

    def handle(found: InterceptedCall) -> bool:
        session = Session.of_call(found.call, names=found.names, breakpoints=points)
        session.host(lambda: [*map(session.reply, walk), session.finish()])
        return True

    def train() -> Any:
        x = pytorch.ones(3, requires_grad=True)
        y = x.exp()
        loss = y.pow(2).sum()
        loss.backward()
        results.append(loss)
        return weakref.ref(y)

    with attached(), intercepting(handle, CallSelector(1)):
        saved = train()
    gc.collect()
    assert saved() is None  # though the loss lives
    with pytest.raises(RuntimeError, match="second time"):
        results[0].backward()


@pytest.mark.parametrize("walk", [[], ["next 2"], ["continue"], ["continue", "restart"]])
def test_a_second_pass_through_a_freed_graph_fails_where_it_does_plainly(walk: list[str]) -> None:
    def program(stepped: bool) -> list[Any]:
        w = pytorch.ones(2, requires_grad=True)
        x = pytorch.ones(2, requires_grad=True)
        loss = (x.exp() + w * 1.0).sum() + w.sum()
        if stepped:
            session = Session(loss, names={})
            for line in walk:
                session.reply(line)
            session.finish()
        else:
            loss.backward()
        with pytest.raises(RuntimeError, match="second time"):
            loss.backward()
        return [w.grad.tolist(), x.grad.tolist()]

    assert program(stepped=True) == program(stepped=False)


@pytest.mark.parametrize(
    "walk",
    [[], ["step"], ["next"], ["next", "back"], ["continue"], ["mute", "undo"],
     ["next", "mute", "undo"]],
)  # fmt: skip
def test_a_pass_that_raises_frees_what_it_frees_plainly(walk: list[str]) -> None:
    def program(stepped: bool) -> list[Any]:
        found: list[Any] = []
        y = pytorch.ones(2, requires_grad=True).exp()
        z = y.sin()
        z.register_hook(lambda g: found.append(g.tolist()))
        loss = z.exp().sum()
        with pytorch.no_grad():
            y.mul_(2)
        run = loss.backward
        if stepped:
            session = Session(loss, names={})
            for line in walk:
                session.reply(line)
            run = session.finish
        with pytest.raises(RuntimeError, match="inplace operation"):
            run()
        with pytest.raises(RuntimeError, match="second time"):
            loss.backward()
        return found

    assert program(stepped=True) == program(stepped=False)


def test_a_pass_to_some_inputs_frees_what_it_frees_plainly() -> None:
    def outcomes(stepped: bool) -> list[Any]:
        x, w = (pytorch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        loss = (x.exp() * w.sin()).sum()

        def handle(found: InterceptedCall) -> Any:
            session = Session.of_call(found.call, names=found.names)
            session.host(lambda: [session.next(3), session.back(), session.finish()])
            return session.gradients if found.call.is_grad else True

        with attached(), intercepting(handle if stepped else lambda found: False, CallSelector(1)):
            found = [pytorch.autograd.grad(loss, [x])[0].tolist()]
        for each in (w, x):
            try:
                found.append(pytorch.autograd.grad(loss, [each])[0].tolist())
            except RuntimeError as error:
                found.append("second time" in str(error))
        return found

    assert outcomes(stepped=True) == outcomes(stepped=False)


def test_a_value_that_the_program_packed_is_refused_the_second_time() -> None:
    x = pytorch.ones(2, requires_grad=True)
    with pytorch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        loss = x.exp().sum()
    session = Session(loss, names={})
    session.continue_()
    session.finish()
    with attached(), pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_a_change_through_a_view_is_refused_the_second_time_as_plainly() -> None:
    def gradients(stepped: bool) -> list[Any]:
        x, w = (pytorch.ones(2, requires_grad=True) for _ in range(2))
        y = x * 1.0
        y[:1].copy_(w[1:])  # its node keeps another, which nobody sees
        loss = y.sum()
        if stepped:
            session = Session(loss, names={})
            session.continue_()
            session.finish()
        else:
            loss.backward()
        with pytest.raises(RuntimeError, match="second time"):
            loss.backward()
        return [x.grad.tolist(), w.grad.tolist()]

    assert gradients(stepped=True) == gradients(stepped=False)


def test_breakpoints_mean_other_nodes_in_a_pass_inside(torch: Any) -> None:
    program = with_passes_inside(torch)
    session = Session(program.loss, names={"w": program.w, "x": program.x})
    session.reply("break mul")
    seen = []
    while session.position < session.length or len(session.frames) > 1:
        session.continue_()
        if session.position < session.length:
            seen.append((len(session.frames), session.graph.stem(session.position)))
    assert set(seen) == {(1, "mul"), (2, "mul")}
    session.finish()


def test_breakpoints_come_along_to_the_next_session(torch: Any) -> None:
    points = Breakpoints()
    for _ in range(2):
        x = torch.ones(2, requires_grad=True)
        session = Session(x.sin().exp().sum(), names={}, breakpoints=points)
        if not points.points:
            session.reply("break sin")
        session.continue_()
        assert session.graph.stem(session.position) == "sin"
        session.finish()
        del session


@pytest.mark.parametrize("walk", [["clip 0.1", "undo"], ["continue", "back", "scale 2", "undo"],
                                  ["continue", "restart", "scale 2", "undo", "next 2"],
                                  ["next 3", "mute 1", "undo"]])  # fmt: skip
def test_grad_gives_what_hooks_of_its_inputs_made_after_an_edit(walk: list[str]) -> None:
    def gradients(stepped: bool) -> list[Any]:
        x, w = (pytorch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        for leaf in (x, w):
            leaf.register_hook(lambda g: g * 1.5)
        y = x.sin()
        y.register_hook(lambda g: g * 1.5)
        loss = (y * w).exp().sum() + (x * x * w).sum()

        def handle(found: InterceptedCall) -> Any:
            session = Session.of_call(found.call, names=found.names)
            session.host(lambda: [*map(session.reply, walk), session.finish()])
            return session.gradients

        kinds = CallSelector(None, ("grad",))
        with attached(), intercepting(handle, kinds) if stepped else contextlib.nullcontext():
            found = pytorch.autograd.grad(loss, [x, w, y], allow_unused=True)
        return [g.tolist() for g in found]

    assert gradients(stepped=True) == gradients(stepped=False)


def test_a_grad_that_the_pass_itself_changes_is_not_computed_with_again() -> None:
    def program(stepped: bool) -> Any:
        x = pytorch.ones(2, requires_grad=True)
        (x * x * x).sum().backward(create_graph=True)
        loss = (x.grad * x.grad).sum()
        if stepped:
            session = Session(loss, names={"x": x}, history_bytes=0)
            while session.position < session.length:
                session.next()
            assert not session.reply("restart").error
            session.finish()
        else:
            loss.backward()
        return x.grad.tolist()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert program(stepped=True) == program(stepped=False)


def test_to_certify_unpacks_nothing_of_a_checkpoint_again() -> None:
    x = pytorch.ones(2, requires_grad=True)
    loss = checkpoint(lambda v: (v.sin() * v.exp()).sum(), x, use_reentrant=False)
    session = Session(loss, names={})
    session.continue_()
    assert "certif" in session.certificate().text(session.graph)
    session.finish()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []
    monkeypatch.setattr(recorded_pass, "tell", said.append)
    return said


@pytest.mark.parametrize("before", [False, True], ids=["no .grad", "a .grad"])
def test_nothing_is_told_where_all_is_as_shown(torch: Any, told: list[str], before: bool) -> None:
    for make in (with_passes_inside, with_a_hook_that_writes_gradients):
        program = make(torch, before=before)
        session = Session(program.loss, names={"w": program.w, "x": program.x})
        for line in ("continue", "restart", "next 3", "continue"):
            session.reply(line)
        session.finish()
        program = make(torch, before=before)
        session = Session(program.loss, names={"w": program.w, "x": program.x})
        session.jump(session.length)  # with no halt on the way
        session.finish()
    program = with_an_optimizer_inside(torch)
    session = Session(program.loss, names={})
    session.continue_()
    session.finish()
    assert told == []


def test_a_leaf_that_was_frozen_since_gets_nothing(torch: Any, told: list[str]) -> None:
    w, x = (torch.ones(2, requires_grad=True) for _ in range(2))
    w.grad = torch.full((2,), 5.0)
    loss = (w * x).sum()
    w.requires_grad_(False)
    session = Session(loss, names={"w": w, "x": x})
    session.continue_()
    session.finish()
    assert w.grad.tolist() == [5.0, 5.0]
    assert not told


def test_a_grad_that_is_not_what_was_shown_is_told(torch: Any, told: list[str]) -> None:
    w = torch.tensor([1.0, 2.0], requires_grad=True)
    session = Session((w * w).sum(), names={"w": w})
    session.continue_()
    w.grad = None  # as a defect of ours did
    session.finish()
    assert len(told) == 1
    assert "w.grad is not what was shown" in told[0]


def test_a_session_that_was_aborted_leaves_no_thread() -> None:
    threads = threading.active_count()
    w = pytorch.ones(3, requires_grad=True)
    session = Session((w * w).sum(), names={})
    session.next(2)
    session.abort()
    assert threading.active_count() == threads
    assert w.grad is None


@pytest.mark.parametrize("form", ["whole", "inside"])
def test_parameters_that_stay_changed_are_told(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program = with_an_optimizer_inside(pytorch, form)
    with ObservedPass(Session(program.loss, names={}).backward_call, Names({})) as observed:
        observed.run()
    assert program.w.tolist() != [1.0, 2.0, 3.0]
    assert "parameters were changed by a hook" in capsys.readouterr().err


def test_the_recording_keeps_its_limit_on_every_way(torch: Any) -> None:
    x = torch.ones(4096, requires_grad=True)
    y = x
    for _ in range(200):
        y = (y * 1.0001).sin()
    budget = 40 * 4096 * 4
    session = Session(y.sum(), names={}, history_bytes=budget)
    for line in ("continue", "jump 20", "jump 350", "restart", "jump 250", "continue", "jump 5"):
        session.reply(line)
        assert session.snapshot.usage.bytes <= 1.5 * budget, line
    session.continue_()
    session.finish()


GROWTH = """\
import LIBRARY as torch
from gradstep import Session
def session(length, size, budget):
    y = x = torch.ones(size, requires_grad=True)
    for _ in range(length):
        y = (y * 1.0001).sin()
    return Session(y.sum(), names={}, history_bytes=budget)
session(4, 4, 0).reply("continue")
stepped = session(500, 1 << 16, 48 << 20)  # 250 MB of gradients
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # the peak, from here on
def told(what):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(what)) / 1024
before = told("VmRSS")
for line in ("continue", "jump 20", "jump 900"):
    stepped.reply(line)
print(told("VmHWM") - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the process is measured by /proc")
def test_the_process_keeps_the_limit_of_the_recording_too(torch: Any) -> None:
    script = GROWTH.replace("LIBRARY", torch.__name__)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ran = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert float(ran.stdout) < 1.5 * 48 + 8


def walked(walk: list[str], **options: Any) -> Callable[[InterceptedCall], Any]:
    """Return what takes a walk in a call, none of whose commands fails."""

    def handle(found: InterceptedCall) -> Any:
        session = Session.of_call(found.call, names=found.names, **options)
        replies = [session.reply(line) for line in walk]
        assert not [each.text for each in replies if each.error]
        session.finish()
        return session.gradients if found.call.is_grad else True

    return handle


EVERY = CallSelector(None, ("backward", "grad"))


def test_what_only_muted_edges_lead_to_does_not_run(torch: Any) -> None:
    def gradients(muted: bool) -> list[Any]:
        x, y, w = (torch.full((2, 2), 1.0 + n, requires_grad=True) for n in range(3))
        product = x * x
        turned = w.t()
        if muted:
            handle = walked(["mute mul:2 out.0", "mute t out.0", "continue"])
        else:
            handle = walked(["continue"])
            product, turned = product.detach(), turned.detach()
        with intercepting(handle, EVERY):
            ((x @ turned) + product * y).sum().backward()
        return [None if leaf.grad is None else leaf.grad.tolist() for leaf in (x, y, w)]

    assert gradients(muted=True) == gradients(muted=False)


def test_an_edit_where_nothing_waited_is_made_again_from_a_checkpoint(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    y = x.sin()
    walk = ["set mul 0.5", "continue", "undo", "continue"]
    with intercepting(walked(walk, history_bytes=0), EVERY):
        (gradient,) = torch.autograd.grad((y * 2).exp().sum(), [x])
    (plain,) = torch.autograd.grad((x.sin() * 2).exp().sum(), [x])
    assert gradient.tolist() == plain.tolist()


@pytest.mark.parametrize("line", ["continue", "next"])
def test_the_grad_of_a_leaf_that_grad_ends_at_is_left_and_shown(torch: Any, line: str) -> None:
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.full((2,), 3.0)
    y = x * 2

    def forget(g: Any) -> None:
        x.grad = None

    y.register_hook(forget)
    seen: list[list[Any]] = []

    def handle(found: InterceptedCall) -> Any:
        session = Session.of_call(found.call, names=found.names)
        for each in ("info leaves", line, "continue", "restart"):
            session.reply(each)
            (leaf,) = session.snapshot.leaves
            seen.append([v if v is None else v.array.tolist() for v in (leaf.before, leaf.now)])
        session.finish()
        return session.gradients

    with intercepting(handle, EVERY):
        torch.autograd.grad((y * y).sum(), [x])
    assert seen[0] == seen[3] == [[3.0, 3.0], [3.0, 3.0]]
    assert seen[2] == [[3.0, 3.0], None]


def test_what_a_leaf_held_before_the_pass_is_not_what_was_added_to_it(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)
    x.grad = torch.zeros(2)
    session = Session((x * x).sum(), names={"x": x})
    first = session.snapshot.leaves[0]
    session.reply("continue")
    assert first.before is not None
    assert first.before.array.tolist() == [0.0, 0.0]
    session.finish()


def test_a_second_pass_through_what_the_program_packed_runs_up_to_it(torch: Any) -> None:
    def left(stepped: bool) -> list[Any]:
        x, w = (torch.ones(2, requires_grad=True) for _ in range(2))
        with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            y = x.exp()
        log: list[Any] = []
        y.register_hook(lambda g: log.append(g.tolist()))
        with intercepting(walked(["next"]), EVERY) if stepped else contextlib.nullcontext():
            y.sum().backward()
            try:
                (w * 2 + y * 1).sum().backward()
            except RuntimeError as error:
                log.append(str(error)[:45])
        return [*log, x.grad.tolist(), None if w.grad is None else w.grad.tolist()]

    assert left(stepped=True) == left(stepped=False)


@pytest.mark.parametrize("end", ["finish", "abort"])
def test_a_session_that_is_over_moves_no_more(torch: Any, end: str) -> None:
    x = torch.ones(2, requires_grad=True)
    session = Session((x * x).sum(), names={"x": x})
    session.next()
    getattr(session, end)()
    kept = None if x.grad is None else x.grad.tolist()
    for line in ("continue", "next", "restart", "back", "scale 2", "undo", "certify"):
        reply = session.reply(line)
        assert not reply.error or "is over" in reply.text, reply.text
        assert (None if x.grad is None else x.grad.tolist()) == kept


@pytest.mark.parametrize("before", [False, True], ids=["no .grad", "a .grad"])
def test_a_leaf_of_a_pass_inside_shows_nothing_of_the_pass_around_it(
    torch: Any, before: bool
) -> None:
    program = with_passes_inside(torch, before=before)
    session = Session(program.loss, names=vars(program))
    while not session.nested(session.position - 1):
        session.next()
    inside = session.position - 1

    def shown() -> list[Any]:
        assert session.enter(inside)
        session.jump(session.length)
        (leaf,) = session.snapshot.leaves
        session.leave()
        return [v if v is None else v.array.tolist() for v in (leaf.before, leaf.now)]

    first = shown()
    session.continue_()
    assert shown() == first
    session.finish()


def test_a_hook_that_changes_a_gradient_which_was_added_is_no_untruth(
    torch: Any, told: list[str]
) -> None:
    x, w = (torch.ones(2, requires_grad=True) for _ in range(2))
    y = x.sin()

    def halve(g: Any) -> None:
        with torch.no_grad():
            g.mul_(0.5)

    y.register_hook(halve)
    session = Session(((y + w) * 1).sum(), names={"x": x, "w": w})
    session.continue_()
    session.finish()
    assert w.grad.tolist() == [1.0, 1.0]
    assert not told


def test_memory_that_becomes_a_grad_and_is_given_again_is_no_untruth(
    torch: Any, told: list[str]
) -> None:
    class Buffer(torch.autograd.Function):  # type: ignore[misc, name-defined]
        buffer = torch.zeros(3)

        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            with torch.no_grad():
                return Buffer.buffer.copy_(g.detach() * 2)

    x, w = (torch.ones(3, requires_grad=True) for _ in range(2))
    y = Buffer.apply((x + w).reshape(3, 1).reshape(3))
    loss = (y * y).sum()
    for retain_graph in (True, False):
        session = Session(loss, retain_graph=retain_graph, names={"x": x, "w": w})
        session.continue_()
        session.finish()
    assert not told


def test_what_retain_grad_gave_is_put_back(torch: Any) -> None:
    def kept(walk: list[str]) -> list[Any]:
        with intercepting(walked(walk), EVERY):
            x = torch.ones(2, requires_grad=True)
            y = x.sin()
            y.retain_grad()
            (y * y).sum().backward()
        return [y.grad.tolist(), x.grad.tolist()]

    walk = ["continue", "restart", "scale 2", "undo"]
    assert kept(walk) == kept([*walk, "continue"]) == kept([])


@pytest.mark.parametrize("graph", [False, True])
def test_a_buffer_that_a_function_sends_is_put_back(graph: bool) -> None:
    torch = autograd_core

    def gradients(walk: list[str]) -> list[Any]:
        total = torch.zeros(2)

        class Running(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x * 2

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                with torch.no_grad():
                    return total.add_(g.detach())

        x = torch.ones(2, requires_grad=True)
        with intercepting(walked(walk), EVERY), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Running.apply(x.sin()).sum().backward(create_graph=graph)
        return [x.grad.tolist(), total.tolist(), total._version]

    assert gradients(["scale 2", "continue", "undo"]) == gradients([])


def test_the_place_where_a_view_keeps_its_gradient_is_put_back() -> None:
    def kept(walk: list[str]) -> list[Any]:
        with intercepting(walked(walk), EVERY):
            x = autograd_core.ones(2, requires_grad=True)

            def step(leaf: Any) -> None:  # from here on, y is made of x anew
                with autograd_core.no_grad():
                    leaf.sub_(leaf.grad * 0.1)

            x.register_post_accumulate_grad_hook(step)
            y = x.expand(2, 2)
            y.retain_grad()
            (y * 3).sum().backward()
        return [y._grad.tolist(), x.tolist()]

    assert kept(["scale 2", "continue", "undo"]) == kept([])


def test_a_grad_that_the_pass_reads_and_adds_to_is_put_back_whole() -> None:
    def gradients(walk: list[str]) -> list[Any]:
        x = pytorch.tensor([1.0, 2.0], requires_grad=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            (x * x * x).sum().backward(create_graph=True)
        with intercepting(walked(walk), EVERY):
            (x.grad * x.grad).sum().backward()
        return list(x.grad.tolist())

    assert gradients(["continue", "restart", "scale 2", "continue", "undo"]) == gradients([])


@pytest.mark.parametrize("walk", [["continue", "back", "zero x.grad", "undo"],
                                  ["continue", "back", "scale 2", "undo"],
                                  ["continue", "back", "zero x.grad", "continue", "undo"],
                                  ["continue", "back 2", "scale 2", "undo"]])  # fmt: skip
@pytest.mark.parametrize("form", ["core: one", "one", "views", "views in part"])
def test_a_grad_that_two_leaves_share_is_put_back_for_both(form: str, walk: list[str]) -> None:
    torch = autograd_core if form == "core: one" else pytorch

    def shared() -> Any:
        if form == "views in part":
            return pytorch.ones(3).unfold(0, 2, 1)
        one = torch.ones(2)
        return (one, one.detach()) if form == "views" else (one, one)

    def gradients(stepped: bool) -> list[Any]:
        x, w = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        x.grad, w.grad = shared()
        loss = ((x * w).sin() * w).sum()
        if stepped:
            session = Session(loss, names={"x": x, "w": w})
            for line in walk:
                assert not (reply := session.reply(line)).error, reply.text
            session.finish()
        else:
            loss.backward()
        return [x.grad.tolist(), w.grad.tolist()]

    assert gradients(stepped=True) == gradients(stepped=False)


def test_an_edited_grad_that_was_left_and_come_back_to_is_no_change_of_a_hook(torch: Any) -> None:
    def gradients(walk: list[str]) -> list[Any]:
        x, w = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
        session = Session(((x.sin().exp() * w).sin()).sum(), names={"x": x, "w": w})
        for line in walk:
            assert not (reply := session.reply(line)).error, reply.text
        session.finish()
        return [x.grad.tolist(), w.grad.tolist()]

    walk = ["continue", "jump #5", "zero w.grad", "next", "jump #1", "continue", "undo"]
    assert gradients(walk) == gradients([])


def test_a_row_shows_the_same_after_a_pass_inside_has_added_to_it(torch: Any) -> None:
    w, x = (torch.ones(2, requires_grad=True) for _ in range(2))
    inside = backward_inside(torch, lambda: (w * 0.25).sum().backward())
    session = Session((inside(x) * w).sum(), names={"w": w, "x": x})
    session.reply("until w")
    session.next()

    def row() -> Any:
        return [leaf.now.array.tolist() for leaf in session.snapshot.leaves if leaf.name == "w"]

    place, before = session.position, row()
    session.reply("catch rms > 0.2")
    session.continue_()
    assert len(session.snapshot.frames) == 2
    session.leave()
    session.jump(place)
    assert row() == before


def test_rows_of_a_pass_inside_are_the_same_when_it_is_entered_again(torch: Any) -> None:
    w, x = (torch.ones(2, requires_grad=True) for _ in range(2))
    # what arrives at w becomes its .grad, to which the pass around adds in place
    inside = backward_inside(torch, lambda: (w * torch.tensor([0.25, 0.5])).sum().backward())
    session = Session(inside(x * w).sum(), names={"w": w, "x": x})
    rows: dict[Any, Any] = {}
    entered = 0

    def look() -> None:
        nonlocal entered
        place = (session.position, *[frame.position for frame in session.snapshot.frames])
        entered += len(session.snapshot.frames) == 2
        now = [
            None if each.now is None else each.now.array.tolist()
            for each in session.snapshot.leaves
        ]
        assert rows.setdefault(place, now) == now

    session.reply("break w")
    there, back = ("continue", "next", "continue", "next"), ("reverse-continue",) * 3
    for command in (*there, *back, *there):
        session.reply(command)
        look()
    assert entered > 4


def test_grad_gets_what_it_takes_where_a_step_is_computed_again() -> None:
    def gradients(history_bytes: int) -> Any:
        x = pytorch.ones(2, requires_grad=True)
        y = x * 2
        z = y.sin()

        def handle(found: InterceptedCall) -> Any:
            session = Session.of_call(found.call, names=found.names, history_bytes=history_bytes)
            for line in ("jump #5", "back 3", "next 3", "scale 2"):
                assert not session.reply(line).error
            session.finish()
            return session.gradients

        with attached(), intercepting(handle, CallSelector(None, ("grad",))):
            found = pytorch.autograd.grad(z.exp().cos().sum(), [x, y, z])
        return [g.tolist() for g in found]

    assert gradients(history_bytes=0) == gradients(history_bytes=2**30)


@pytest.mark.parametrize("shared_by", ["the program", "a hook"])
@pytest.mark.parametrize("parted", [False, True])
def test_the_row_of_a_leaf_shows_what_another_one_added_to_a_grad_of_both(
    torch: Any, shared_by: str, parted: bool, told: list[str]
) -> None:
    x, w, first, last = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(4))

    def share(g: Any) -> None:
        x.grad = w.grad = torch.ones(2)

    def part(g: Any) -> None:
        w.grad = w.grad * 0.5

    if shared_by == "a hook":
        first.register_hook(share)
    else:
        share(None)
    if parted:
        last.register_hook(part)
    y = (last * 1.0) * w  # from the end: first, x, w, last
    session = Session((((y * 1.0) * x) * 1.0 * first).sum(), names={"x": x, "w": w})
    session.continue_()
    rows = {each.name: each.now.array.tolist() for each in session.snapshot.leaves if each.name}
    session.finish()
    assert (rows["x"], rows["w"]) == (x.grad.tolist(), w.grad.tolist())
    assert x.grad.tolist() == [3, 17]
    assert (w.grad is x.grad) == (not parted)
    assert not told


def test_a_grad_that_two_leaves_share_is_shown_as_it_was_before_the_second_adds(torch: Any) -> None:
    x, w = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    x.grad = w.grad = torch.ones(2)
    y = w * 1.0  # behind it, w is the last to add; to x, three gradients come, and are added up
    session = Session(((y * x).tanh() * y + x * x).sum(), names={"x": x, "w": w})

    def shown() -> Any:
        return [(each.name, each.now.array.tolist()) for each in session.snapshot.leaves]

    session.jump(session.length - 1)
    while_it_ran = shown()
    session.continue_()
    session.back()
    assert shown() == while_it_ran
    session.finish()


def test_what_a_node_did_that_raised_stays_where_nobody_goes_back(torch: Any) -> None:
    x = torch.ones(2, requires_grad=True)

    def step(leaf: Any) -> None:
        with torch.no_grad():
            leaf.sub_(leaf.grad)
        raise ValueError

    x.register_post_accumulate_grad_hook(step)
    loss = (x * 2).sum()
    looked_at = intercepting(lambda found: run_and_capture(found, "both")[1], EVERY)
    with looked_at, pytest.raises(ValueError):
        loss.backward()
    assert (x.tolist(), x._version, x.grad.tolist()) == ([-1, -1], 1, [2, 2])


@pytest.mark.parametrize("end", ["finish", "abort"])
def test_a_hook_that_takes_itself_away_is_called_again(torch: Any, end: str) -> None:
    x = torch.ones(2, requires_grad=True)

    def once(g: Any) -> Any:
        handle.remove()
        return g * 3

    def debugged(found: InterceptedCall) -> Any:
        session = Session.of_call(found.call, names=found.names)
        for line in ["continue", "restart", "scale 2", "continue", "undo", "continue"]:
            session.reply(line)
        getattr(session, end)()
        return end == "finish"

    with intercepting(debugged, EVERY):
        y = x * 2
        handle = y.register_hook(once)
        y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [6, 6]
    y.sum().backward()
    assert x.grad.tolist() == [8, 8]  # it is gone


def test_several_values_of_a_node_that_are_freed_are_told() -> None:
    x = pytorch.ones(3, requires_grad=True)
    loss = x[[0, 1]].sum()
    loss.backward()
    session = Session(loss, names={"x": x})
    assert "freed" in session.reply("info saved index").text


@pytest.mark.parametrize(
    ("form", "edges"), [("plain", {0: [0]}), ("create_graph", {}), ("grad", {}), ("shared", {})]
)
def test_only_a_plain_pass_hands_over_what_becomes_a_grad(form: str, edges: Any) -> None:
    x = pytorch.ones((), requires_grad=True)
    handed: list[Any] = []

    def debugged(found: InterceptedCall) -> Any:
        engine = Session.of_call(found.call, names=found.names)._view.driver._engine  # type: ignore[attr-defined]
        handed.append(engine._handed_over_to_leaves(0, set(engine.order[1:])))
        return False

    with contextlib.ExitStack() as stack:
        if form == "shared":
            store = pytorch.distributed.HashStore()
            pytorch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
            stack.callback(pytorch.distributed.destroy_process_group)
        stack.enter_context(intercepting(debugged, EVERY))
        if form == "grad":
            pytorch.autograd.grad(x.exp(), [x])
        else:
            x.exp().backward(create_graph=form == "create_graph")
    assert handed == [edges]


def test_grad_of_what_nothing_leads_to_answers_as_it_does_plainly(torch: Any) -> None:
    x, y = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with intercepting(lambda found: run_and_capture(found, "both")[1], EVERY):
        assert torch.autograd.grad(x.sum(), [y], allow_unused=True) == (None,)
        with pytest.raises(RuntimeError, match="appears to not have been used"):
            torch.autograd.grad(x.sum(), [y])
