"""Calls of which more may be asked: none runs twice in which code of the program runs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import autograd_core
from gradstep.console.session import Session
from gradstep.contract.lookup import engine_of
from gradstep.program.calls import CallSelector, InterceptedCall, intercepting
from gradstep_tui.commands.fail_on import FailOn
from tests.both import TORCH


@pytest.mark.parametrize(
    "library", ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]
)
def test_no_pass_is_kept_in_which_code_of_the_programs_runs(library: str) -> None:
    torch = pytest.importorskip(library)
    ran: list[int] = []

    class Counting(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            ran.append(1)
            return gradient * 2

    x = torch.ones(2, requires_grad=True)
    for result, is_kept in ((x * 2, True), (Counting.apply(x), False)):
        loss = result.sum()
        running = engine_of([loss]).running
        assert (running.carry_out(running.call(loss, None, None, False)) is not None) == is_kept
    assert (ran, x.grad.tolist()) == ([], [2, 2])


@pytest.mark.torch
@pytest.mark.parametrize("shared", [True, False])
def test_a_pass_whose_gradients_are_exchanged_is_read_only(
    shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from gradstep.engines.pytorch import calls

    loss = torch.ones(2, requires_grad=True).exp().sum()
    running = engine_of([loss]).running  # imports what is to keep the real function
    monkeypatch.setattr(calls, "is_shared_with_processes", lambda: shared)
    reason = calls.why_watched_only(running.call(loss, None, None, False))
    assert ("exchanged with other processes" in reason) == shared


@pytest.mark.parametrize(
    "way",
    ["a tensor that retains", "a pass inside", "an optimizer", "an optimizer inside", "a hook"],
)
@pytest.mark.parametrize(
    "library", ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]
)
def test_what_is_looked_at_twice_is_done_once(library: str, way: str) -> None:
    torch = pytest.importorskip(library)
    checkpoint = import_module(f"{library}.utils.checkpoint").checkpoint

    def step(p: Any) -> None:
        with torch.no_grad():
            p.add_(1.0)

    def program() -> list[Any]:
        torch.manual_seed(0)
        layer, x = torch.nn.Linear(3, 3), torch.ones(2, 3, requires_grad=True)
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        if way.startswith("an optimizer"):
            layer.bias.register_post_accumulate_grad_hook(lambda _: optimizer.step())
        nan = torch.zeros(2, requires_grad=True) * float("nan")
        y = checkpoint(layer, x, use_reentrant=True) if way.endswith("inside") else layer(x)
        if way == "a tensor that retains":
            y.retain_grad()
            y.grad = torch.ones(2, 3)
        if way == "a hook":
            y.register_hook(lambda _: step(layer.bias))
        (y.sum() + nan.sum()).backward()
        kept = [y.grad.tolist()] if y.retains_grad else []
        return [
            *kept,
            *(each for p in layer.parameters() for each in (p.tolist(), p.grad.tolist())),
        ]

    plain = program()
    watch = FailOn("inf")  # nan at a leaf may have been infinite on the way

    def handle(found: InterceptedCall) -> bool:
        session = Session.of_call(found.call, names=found.names, breakpoints=watch.breakpoints)
        watch.run_on(session)
        session.finish()
        return True

    with intercepting(handle, CallSelector(), look=watch.quick_look):
        assert program() == plain


@pytest.mark.torch
def test_a_call_that_a_mode_of_the_programs_sees_is_not_to_be_made_twice() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from torch.utils._python_dispatch import TorchDispatchMode

    class Seeing(TorchDispatchMode):
        def __torch_dispatch__(
            self, op: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return op(*args, **(kwargs or {}))

    loss = torch.ones(2, requires_grad=True).exp().sum()
    running = engine_of([loss]).running
    call = running.call(loss, None, None, False)
    assert not running.may_run_user_code(call)
    with Seeing():
        assert running.may_run_user_code(call)
        assert running.carry_out(call) is None
    assert running.carry_out(call) is not None


@pytest.mark.torch
def test_of_functions_of_pytorchs_those_run_once_that_call_code_of_programs() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    schema = "(Tensor x) -> Tensor"
    twice = torch.library.custom_op(
        "gradstep_tests::twice", lambda x: x * 2, mutates_args=(), schema=schema
    )
    twice.register_autograd(lambda ctx, g: g * 2)
    x = torch.ones(2, requires_grad=True)
    masked = torch.masked.masked_tensor(torch.ones(2), torch.ones(2) > 0, requires_grad=True)
    for loss, runs_twice in ((twice(x).sum(), False), ((masked * 2).sum(), True)):
        running = engine_of([loss]).running
        call = running.call(loss, torch.ones_like(loss), None, False)
        run = running.carry_out(call, hears=lambda gradients, norms: None)
        assert (run is not None) == runs_twice


@pytest.mark.parametrize("condition", ["nan", "rms > 1e6", "rms < 1e-6", "undefined"])
def test_a_call_of_the_core_in_which_nothing_is_found_needs_no_session(condition: str) -> None:
    torch = autograd_core

    def train() -> list[Any]:
        torch.manual_seed(0)
        net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
        for _ in range(3):
            y = net(torch.ones(2, 3))
            (y * y + y).sum().backward()
        return [p.grad.tolist() for p in net.parameters()]

    def handle(found: InterceptedCall) -> bool:
        raise AssertionError(f"{found.title} is to be looked at")

    plain, watch = train(), FailOn(condition)
    with intercepting(handle, CallSelector(), look=watch.quick_look):
        assert train() == plain


@pytest.mark.parametrize("library", ["autograd_core", TORCH])
def test_a_sum_that_alone_meets_a_condition_is_not_passed_over(library: str) -> None:
    x = pytest.importorskip(library).ones(2, requires_grad=True)
    y = x * 0.1
    loss, watch, seen = (y * 3 + y * 4).sum(), FailOn("rms > 5"), []

    def handle(found: InterceptedCall) -> bool:
        seen.append(found.title)
        return False

    with intercepting(handle, CallSelector(), look=watch.quick_look):
        loss.backward()
    assert len(seen) == 1


def test_a_pass_in_anomaly_mode_is_not_heard_in_place_of_a_session() -> None:
    torch = autograd_core
    loss = torch.ones(2, requires_grad=True).exp().sum()
    running = engine_of([loss]).running
    call = running.call(loss, None, None, False)
    with torch.autograd.set_detect_anomaly(True):
        assert running.carry_out(call, hears=lambda gradients, norms: None) is None
    assert running.carry_out(call, hears=lambda gradients, norms: None) is not None
