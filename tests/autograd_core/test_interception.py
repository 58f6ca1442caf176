"""Calls of ``backward`` and ``grad`` that somebody takes over: what they see and hand back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import autograd_core as torch
from autograd_core.autograd import Function
from autograd_core.autograd.call import BackwardCall, gradients, interceptor, pass_mode, start
from autograd_core.autograd.step import Step
from gradstep.program import calls


@contextmanager
def taken_over_by(intercept: Callable[[BackwardCall], Any]) -> Iterator[None]:
    token = interceptor.set(intercept)
    try:
        yield
    finally:
        interceptor.reset(token)


def stepped(call: BackwardCall, steps: list[Step] | None = None) -> Any:
    """Carry out ``call`` node by node."""
    task = start(call)
    with pass_mode(call.graph):
        for index in range(len(task.order)):
            found = list(task.observe(index, index + 1))
            if steps is not None:
                steps += found
    return gradients(call, task) if call.is_grad else True


def leaves() -> tuple[Any, Any]:
    return torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor(3.0, requires_grad=True)


@pytest.mark.parametrize("create_graph", [False, True])
def test_a_stepped_call_of_grad_returns_what_a_plain_one_does(create_graph: bool) -> None:
    x, y = leaves()
    middle = x * y
    z = (middle.sin() * x).sum()

    def ask() -> Any:
        return torch.autograd.grad(z, (middle, x, y), retain_graph=True, create_graph=create_graph)

    plain = ask()
    steps: list[Step] = []
    with taken_over_by(lambda call: stepped(call, steps)):
        found = ask()
    assert [g.tolist() for g in found] == [g.tolist() for g in plain]
    assert [g.requires_grad for g in found] == [create_graph] * 3
    assert x.grad is None
    assert y.grad is None
    captured = [place for step in steps for place, _ in step.captured]
    assert captured == [middle.grad_fn, x.edge, y.edge]


def test_a_captured_place_that_feeds_nothing_wanted_does_not_run() -> None:
    x, y = leaves()
    middle = x * y
    steps: list[Step] = []
    with taken_over_by(lambda call: stepped(call, steps)):
        torch.autograd.grad(middle.sum(), middle)
    assert [step.node.name() for step in steps] == ["SumBackward0", "MulBackward0"]
    assert steps[-1].deliveries == ()
    middle.sum().backward()  # its saved values were not used, and so not freed


def test_the_call_says_which_of_the_two_it_is() -> None:
    x, _ = leaves()
    seen: list[tuple[bool, int]] = []

    def look(call: BackwardCall) -> bool:
        seen.append((call.is_grad, len(call.inputs)))
        return False

    with taken_over_by(look):
        torch.autograd.grad((x * x).sum(), x)
        (x * x).sum().backward()
        (x * x).sum().backward(inputs=[x])
    assert seen == [(True, 1), (False, 0), (False, 1)]


def test_a_call_of_grad_carried_out_without_gradients_is_an_error() -> None:
    x, _ = leaves()
    with taken_over_by(lambda _: True), pytest.raises(TypeError, match="returns its gradients"):
        torch.autograd.grad((x * x).sum(), x)


def test_the_passes_that_forward_mode_makes_are_not_the_users() -> None:
    seen: list[BackwardCall] = []
    x = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
    with (
        taken_over_by(lambda call: bool(seen.append(call))),
        torch.autograd.forward_ad.dual_level(),
    ):
        dual = torch.autograd.forward_ad.make_dual(x, torch.ones(2, 2))
        torch.linalg.inv(dual)
    assert seen == []


class Nested(Function):
    """The square, whose backward makes a pass of its own."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            again = x.detach().requires_grad_()
            (again * again).sum().backward()
        return g * again.grad


def test_a_pass_within_a_node_knows_that_node_and_its_depth() -> None:
    x, _ = leaves()
    seen: list[tuple[str | None, int]] = []

    def look(call: BackwardCall) -> bool:
        seen.append((call.parent and call.parent.name(), call.depth))
        return False

    outer = Nested.apply(x).sum()

    @outer.register_hook
    @torch.enable_grad()
    def _(_: Any) -> None:
        torch.autograd.grad((x * 2).sum(), x)

    with taken_over_by(look):
        outer.backward()
    assert seen == [(None, 0), ("SumBackward0", 1), ("NestedBackward", 1)]
    assert x.grad.tolist() == [2.0, 4.0]


def test_passes_nest_as_deep_as_they_like() -> None:
    depths: list[int] = []

    class Deeper(Function):
        @staticmethod
        def forward(ctx: Any, x: Any, levels: int) -> Any:
            ctx.levels = levels
            return x * 2**levels

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            if not ctx.levels:
                return g, None
            with torch.enable_grad():
                x = torch.ones(2, requires_grad=True)
                (found,) = torch.autograd.grad(Deeper.apply(x, ctx.levels - 1), x, g)
            return found * 2, None

    x = torch.ones(2, requires_grad=True)
    with taken_over_by(lambda call: bool(depths.append(call.depth))):
        Deeper.apply(x, 4).sum().backward()
    assert x.grad.tolist() == [16.0, 16.0]
    assert depths == [0, 1, 2, 3, 4]


def test_a_very_large_graph_says_what_its_picture_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def handle(found: calls.InterceptedCall) -> Any:
        return calls.run_and_capture(found, "backward")[1]

    def told() -> str:
        x, y = leaves()
        with calls.intercepting(handle, calls.CallSelector(None)):
            (x * y).sum().backward()
        return capsys.readouterr().err

    assert told() == ""
    monkeypatch.setattr(calls, "MANY", 2)
    expected = (
        "backward() call 1 has 4 nodes; drawing them takes minutes, and 3 KB of memory for each"
    )
    assert told() == f"gradstep: {expected}\n"
