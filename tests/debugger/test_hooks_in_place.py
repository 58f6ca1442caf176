"""Hooks that change a gradient in place: as a plain pass does, and without touching the record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograd_core as torch
from gradstep.console.session import Session


def doubled(g: Any) -> None:
    g.mul_(2.0)


def total(y: Any) -> Any:
    """A scalar whose gradient arrives at ``y`` on memory of its own, not expanded."""
    return (y * 1.0).sum()


def both_get_the_same_array(x: Any) -> Any:
    a, b = x * 3.0, x.exp()
    b.register_hook(doubled)  # the addition sends one array to both
    return total(a + b)


def the_place_it_delivers_to_shares_the_array(x: Any) -> Any:
    y = x.exp()
    y.register_hook(doubled)
    return total(x + y)


def a_hook_after_the_node(x: Any) -> Any:
    a, b = x * 3.0, x * 1.0
    c = a + b
    c.grad_fn.register_hook(lambda sent, received: doubled(sent[0]))
    return total(c.sin() + b)


def a_function_that_reuses_its_gradient(x: Any) -> Any:
    class Careless(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, given: Any) -> Any:
            return given.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.mul_(5.0)

    return total(Careless.apply(x) + x.exp())


def a_slice_of_the_array(x: Any) -> Any:
    rows = torch.stack([x, x * 2.0])
    first, second = rows[0], rows.sum(0)
    y = rows.reshape(4) + torch.cat([first, second])
    rows.register_hook(doubled)
    first.register_hook(doubled)
    return total(y)


def functions_that_return_a_buffer_of_their_own(x: Any) -> Any:
    def function() -> Any:
        buffer = torch.zeros(2)

        class Buffered(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, given: Any) -> Any:
                return given * 2.0

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                return buffer.copy_(g * 2.0)

        return Buffered.apply

    twice = function()
    return total(function()(x) + twice(twice(x)))


def a_hook_that_changes_what_another_was_given(x: Any) -> Any:
    kept: list[Any] = []
    a, b = x + 1.0, x.exp()
    b.register_hook(kept.append)
    a.register_hook(lambda g: (kept[-1].mul_(3.0), None)[1])
    return total(b + a)


def a_hook_that_changes_what_another_one_only_saw(x: Any) -> Any:
    a, b, c = x * 2.0, x.exp(), x.sin()
    c.register_hook(lambda g: None)
    b.register_hook(doubled)  # also for the others, which share the array
    return total(a + (b + c))


def a_change_seen_by_nodes_that_were_dropped(x: Any) -> Any:
    y = x
    for _ in range(3):
        a, b = y * 2.0, y.exp()
        b.register_hook(lambda g: None)
        a.register_hook(doubled)
        y = (b + (a + y)) * 1.5
    return total(y)


PROGRAMS = [
    both_get_the_same_array,
    the_place_it_delivers_to_shares_the_array,
    a_hook_after_the_node,
    a_function_that_reuses_its_gradient,
    a_slice_of_the_array,
    functions_that_return_a_buffer_of_their_own,
    a_hook_that_changes_what_another_was_given,
    a_hook_that_changes_what_another_one_only_saw,
    a_change_seen_by_nodes_that_were_dropped,
]


@pytest.fixture
def x() -> Any:
    return torch.tensor([0.5, -1.0], requires_grad=True)


def everything(session: Session) -> list[Any]:
    shown = session.snapshot
    details = [session.detail(index) for index in range(session.length)]
    return [
        shown.phase, shown.pending, shown.leaves,
        [(d.incoming, d.outgoing, d.saved) for d in details],
        [[value.text() for d in details for each in d.incoming for value in [each.total] if value]],
    ]  # fmt: skip


@pytest.mark.sampled(5)
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_was_shown_at_a_position_stays_so(program: Callable[[Any], Any], x: Any) -> None:
    session = Session(program(x))
    seen: dict[int, list[Any]] = {}
    texts: dict[int, str] = {}
    for position in range(session.length + 1):
        session.jump(position)
        seen[position] = everything(session)
        texts[position] = repr(seen[position])
    for position, known in reversed(seen.items()):
        session.jump(position)
        assert everything(session) == known
        for other, text in texts.items():
            assert repr(seen[other]) == text  # what was handed out has not changed


@pytest.mark.parametrize("program", PROGRAMS)
def test_stepping_inside_comes_to_the_same(program: Callable[[Any], Any], x: Any) -> None:
    same = x.detach().clone().requires_grad_(True)
    session, other = Session(program(x), names={"x": x}), Session(program(same), names={"x": same})
    while session.position < session.length:
        session.step()
        assert session.snapshot.status != "failed"
        if not session.snapshot.phase:
            other.jump(session.position)
            assert everything(session)[1:] == everything(other)[1:]


@pytest.mark.parametrize("program", PROGRAMS)
def test_an_undone_edit_lets_the_hook_do_the_same_again(
    program: Callable[[Any], Any], x: Any
) -> None:
    program(x).backward()
    plain, x.grad = x.grad.tolist(), None
    session = Session(program(x))
    session.jump(session.length)
    session.jump(1)
    session.edit.scale(1, 3.0)
    session.jump(session.length)
    session.edit.undo()
    session.finish()
    assert x.grad.tolist() == plain


def test_the_record_names_what_a_hook_was_given_and_what_it_made(x: Any) -> None:
    session = Session(both_get_the_same_array(x))
    session.jump(session.length)
    at = next(i for i in range(session.length) if session.detail(i).hooks)
    (incoming,) = session.detail(at).incoming
    assert incoming.total is not None
    assert incoming.total.text() == "[1, 1]"
    hook = session.phases(at)[0]
    assert [value.text() for value in hook.after if value] == ["[2, 2]"]
