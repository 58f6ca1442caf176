"""What the debugger does around the user's code: hooks, custom Functions, passes inside passes."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from gradstep.capturing import Names
from gradstep.console.session import Session
from gradstep.debugger.errors import EditError
from gradstep.engines.native.trace import tracing
from tests.both import on_the_core


@pytest.fixture
def weight(torch: Any) -> Any:
    return torch.tensor([1.0, -2.0], requires_grad=True)


def to_end(session: Session) -> None:
    session.jump(session.length)


# -- inside a node -----------------------------------------------------------------------------


def test_a_hook_shows_what_it_changed(weight: Any) -> None:
    y = weight * 3.0
    y.register_hook(lambda g: g * 0.5)
    session = Session(y.sum())
    session.next(2)
    (hook, formula, delivery) = session.phases(1)
    assert hook.kind == "hook"
    assert (hook.before[0].text(), hook.after[0].text()) == ("[1, 1]", "[0.5, 0.5]")
    assert formula.after[0].text() == "[1.5, 1.5]"
    assert delivery.kind == "delivery"


def test_steps_inside_a_node_show_only_what_has_happened(weight: Any) -> None:
    session = Session((weight * weight).sum())
    session.next()
    seen = []
    for _ in range(3):
        session.step()
        snapshot = session.snapshot
        sent = [each.sent for each in snapshot.current.outgoing] if snapshot.current else []
        seen.append((snapshot.phase, sent, [leaf.arrived for leaf in snapshot.leaves]))
    assert seen == [(1, [False, False], [0]), (2, [True, False], [1]), (0, [False] * 0, [2])]
    session.step_back()
    assert session.snapshot.phase == 2
    assert session.snapshot.pending[-1].arrived == 1


@on_the_core
def test_a_reduction_is_a_phase_of_its_own(torch: Any) -> None:
    bias = torch.tensor([1.0, 2.0], requires_grad=True)
    session = Session((torch.ones(3, 2) + bias).sum())
    session.next(2)
    kinds = [phase.kind for phase in session.phases(1)]
    assert kinds == ["formula", "reduction", "delivery"]
    assert session.phases(1)[1].after[0].text() == "[3, 3]"


def test_accumulation_comes_before_the_hooks_that_see_it(weight: Any) -> None:
    def halve(leaf: Any) -> None:
        leaf.grad.mul_(0.5)

    weight.register_post_accumulate_grad_hook(halve)
    session = Session(weight.sum())
    session.next()
    session.step()
    (leaf,) = session.snapshot.leaves
    assert leaf.now.text() == "[1, 1]"
    session.step()
    (leaf,) = session.snapshot.leaves
    assert leaf.now.text() == "[0.5, 0.5]"


# -- going back over the user's code -----------------------------------------------------------


def test_going_back_and_forth_calls_no_hook_twice_even_without_memory(weight: Any) -> None:
    called: list[str] = []
    state = weight
    for number in range(6):
        state = (state * 1.5).tanh()
        if number % 2:
            state.register_hook(lambda g: called.append("hook"))
    weight.register_post_accumulate_grad_hook(lambda leaf: called.append("leaf"))
    session = Session(state.sum(), history_bytes=0)
    to_end(session)
    once = list(called)
    for position in (0, 5, session.length, 3, 7, 0):
        session.jump(position)
        session.step()
        session.detail(0)
    session.finish()
    assert called == once
    assert session.snapshot.usage.recomputed > 0


# -- edits -------------------------------------------------------------------------------------


def test_an_edit_drops_the_future_and_tells_the_difference(torch: Any, weight: Any) -> None:
    other = torch.tensor([5.0, 5.0], requires_grad=True)
    session = Session((weight * other).sum(), names=Names({"weight": weight, "other": other}))
    to_end(session)
    session.jump(1)
    edited = session.edit.scale(1, 3.0)
    assert (edited.dropped, session.snapshot.recorded) == (session.length - 1, 1)
    to_end(session)
    found = {each.name: each for each in session.edit.difference()}
    assert found["weight"].relative == pytest.approx(2.0)
    assert found["other"].maximum == pytest.approx(4.0)
    session.edit.undo()
    assert session.position == 1
    session.finish()
    assert weight.grad.tolist() == [5.0, 5.0]


@on_the_core
def test_the_difference_is_known_although_the_unedited_run_was_never_seen(weight: Any) -> None:
    called: list[Any] = []
    y = weight.tanh()
    y.register_hook(called.append)
    session = Session(y.sum())
    session.edit.zero(0)
    to_end(session)
    before = weight.grad.tolist()
    (leaf,) = session.edit.difference()
    assert leaf.relative == 1.0
    assert len(called) == 2
    assert len(session.edit.called_for_difference) == 1
    assert weight.grad.tolist() == before


def test_an_edit_that_cannot_be_made_says_why(weight: Any) -> None:
    session = Session((weight * 2.0).sum())
    session.next()
    for change, said in (
        (lambda: session.edit.scale(0, 2.0), "go back to it first"),
        (lambda: session.edit.scale(2, 2.0), "nothing has arrived"),
        (lambda: session.edit.set(1, [1.0, 2.0, 3.0]), "does not fit"),
        (lambda: session.edit.mute_edge(1, 1), "sends nothing along edge 1"),
        (lambda: session.edit.mute_hook(1, 0), "no hook 0"),
        (lambda: session.edit.clip(1, -1.0), "a limit cannot be"),
        (lambda: session.edit.scale(9, 1.0), "no node #10"),
        (session.edit.undo, "nothing to undo"),
    ):
        with pytest.raises(EditError, match=said):
            change()
    assert session.snapshot.edits == ()


@on_the_core
def test_a_hook_that_raises_can_be_given_another_gradient(weight: Any) -> None:
    y = weight * 2.0

    def refuse_ones(g: Any) -> None:
        if g.tolist() == [1.0, 1.0]:
            raise ValueError("ones")

    y.register_hook(refuse_ones)
    session = Session(y.sum())
    session.continue_()
    snapshot = session.snapshot
    assert snapshot.status == "failed"
    assert "refuse_ones" in snapshot.reason
    assert snapshot.current.incoming[0].total.text() == "[1, 1]"
    session.edit.set(1, 4.0)
    session.continue_()
    assert session.snapshot.status == "finished"
    assert weight.grad.tolist() == [8.0, 8.0]


# -- the ledger --------------------------------------------------------------------------------


def test_the_ledger_tells_what_cancelled(weight: Any) -> None:
    session = Session((weight * 3.0 - weight).sum())
    to_end(session)
    index = next(leaf.index for leaf in session.snapshot.leaves)
    entries = list(session.contributions(index))
    assert [each.value.text() for each in entries] == ["[-1, -1]".replace("-", "−"), "[3, 3]"]
    assert [each.total.text() for each in entries][-1] == "[2, 2]"
    assert [each.remaining for each in entries] == [1.0, 0.5]


def test_the_path_leads_from_the_loss(weight: Any) -> None:
    session = Session((weight * 3.0).tanh().sum())
    assert session.path(session.length - 1) == (0, 1, 2, 3)


# -- passes inside passes ----------------------------------------------------------------------


def nested_program(torch: Any, weight: Any) -> Any:
    class Again(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * weight.detach()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            (x,) = ctx.saved_tensors
            with torch.enable_grad():
                inner = x.detach().requires_grad_(True)
                (inner * weight * g).sum().backward()
            return inner.grad

    x = torch.tensor([4.0, 5.0], requires_grad=True)
    return Again.apply(x).sum(), x


@on_the_core
def test_a_pass_inside_a_node_is_a_frame_that_can_be_walked(torch: Any, weight: Any) -> None:
    loss, x = nested_program(torch, weight)
    session = Session(loss)
    session.next(2)
    grad = weight.grad.tolist()
    assert session.nested(1) == 1
    assert session.enter(1)
    assert len(session.frames) == 2
    assert session.snapshot.position == session.snapshot.recorded == session.length
    session.restart()
    assert weight.grad.tolist() == grad
    with pytest.raises(EditError, match="read-only"):
        session.edit.scale(0, 2.0)
    assert session.leave()
    session.restart()
    assert weight.grad is None
    session.finish()
    assert weight.grad.tolist() == grad
    assert x.grad.tolist() == weight.tolist()


# -- long runs ---------------------------------------------------------------------------------


def test_another_thread_can_interrupt_a_run(weight: Any) -> None:
    state = weight
    for _ in range(20):
        state = state * 1.0
    session = Session(state.sum())
    reached = threading.Event()
    go_on = threading.Event()

    def wait(g: Any) -> None:
        reached.set()
        go_on.wait()

    state.register_hook(wait)
    runner = threading.Thread(target=session.continue_)
    runner.start()
    reached.wait()
    session.interrupt()
    go_on.set()
    runner.join()
    assert 0 < session.position < session.length
    assert session.snapshot.reason == "interrupted"
    session.continue_()
    assert session.snapshot.status == "finished"


@on_the_core
def test_stepping_over_and_out_of_modules(weight: Any) -> None:
    with tracing() as tracer:
        state = weight
        for block in ("0", "1"):
            with tracer.scope(block):
                with tracer.scope("inner"):
                    state = (state * 2.0).tanh()
                state = state + 1.0
    session = Session(state.sum())
    session.next()  # the sum stands before the blocks
    visited = []
    session.over()
    visited.append(session.position)
    session.back_over()
    visited.append(session.position)
    session.next(1)
    session.out()
    visited.append(session.position)
    session.back_out()
    visited.append(session.position)
    assert visited == [4, 1, 4, 2]  # the innermost module begins one node later


@on_the_core
def test_a_pass_inside_a_node_that_fails_can_be_entered(torch: Any, weight: Any) -> None:
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1.0

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            with torch.enable_grad():
                inner = torch.ones(2).requires_grad_(True)
                y = inner * weight
                y.register_hook(lambda g: 1 / 0)
                y.sum().backward()

    session = Session(Broken.apply(weight).sum())
    session.continue_()
    assert session.snapshot.error.startswith("ZeroDivisionError")
    assert session.enter(session.position)
    inner = session.snapshot
    assert inner.status == "failed"
    assert "tensor hook" in inner.reason
    assert len(inner.frames) == 2
    session.abort()
    assert weight.grad is None


def test_history_says_what_it_takes_and_stays_near_its_budget(torch: Any) -> None:
    state = torch.ones(1000).requires_grad_(True)
    for _ in range(100):
        state = state * 1.0
    session = Session(state.sum(), history_bytes=100_000)
    session.continue_()
    usage = session.snapshot.usage
    assert usage is not None
    assert (usage.budget, usage.kept + usage.dropped) == (100_000, session.length)
    assert usage.dropped > 60
    assert usage.bytes < 130_000
    session.jump(3)
    known = session.detail(2).outgoing[0].value
    assert known is not None
    assert known.text(1) == "[1, ...]"
    assert session.snapshot.usage.recomputed > 0
    assert session.snapshot.usage.bytes < 130_000
    session.jump(session.length)
    before = session.snapshot.usage.recomputed
    for _ in range(session.length):
        session.back()
        assert session.snapshot.usage.bytes < 130_000
    assert session.snapshot.usage.recomputed - before < 8 * session.length


def test_hooks_of_gradients_that_are_not_there_are_called_as_in_a_plain_pass(torch: Any) -> None:
    def program() -> tuple[Any, list[Any], Any]:
        seen: list[Any] = []
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        first, second = x.split(1)
        for name, t in (("first", first), ("second", second), ("x", x)):
            t.register_hook(lambda g, name=name: seen.append((name, repr(g))))
        x.register_post_accumulate_grad_hook(lambda x: seen.append(("done", repr(x.grad))))
        return (second * 3).sum(), seen, x

    loss, plain, x = program()
    loss.backward()
    assert ("first", "None") in plain
    loss, stepped, again = program()
    session = Session(loss)
    for command in ("next 2", "step", "step", "back 2", "next 3", "back 9", "next 9", "finish"):
        session.do(command)
    assert stepped == plain
    assert again.grad.tolist() == x.grad.tolist()
