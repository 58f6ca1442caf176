"""Runs that are kept to be undone: what code of the program's did is undone, too."""

from __future__ import annotations

from typing import Any

import pytest

import autograd_core
from gradstep.engines.lookup import engine_of


def test_what_a_function_of_the_programs_changed_is_undone() -> None:
    count = autograd_core.zeros(1)

    class Counting(autograd_core.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            count.add_(1)
            return gradient * 2

    x = autograd_core.ones(2, requires_grad=True)
    loss = Counting.apply(x).sum()
    engine = engine_of([loss])
    run = engine.kept_run(engine.call(loss, None, None, False))
    assert run is not None
    assert (count.item(), x.grad.tolist()) == (1, [2, 2])
    run.undo()
    assert (count.item(), x.grad) == (0, None)


@pytest.mark.torch
@pytest.mark.parametrize("shared", [True, False])
def test_a_pass_whose_gradients_are_exchanged_is_read_only(
    shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from gradstep.engines.pytorch.stepping import watch_only

    monkeypatch.setattr(watch_only, "is_shared_with_processes", lambda: shared)
    loss = torch.ones(2, requires_grad=True).exp().sum()
    engine = engine_of([loss])
    reason = watch_only.why_watched_only(engine.call(loss, None, None, False))
    assert ("exchanged with other processes" in reason) == shared
