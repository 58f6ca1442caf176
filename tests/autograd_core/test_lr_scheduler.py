"""Schedules of the learning rate: every number that PyTorch computes, over 50 steps."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np
import pytest

import autograd_core


def label(value: Any) -> str | None:
    return ", ".join(value) or "plain" if isinstance(value, dict) else None


def both(function: Any) -> tuple[Any, Any]:
    pytorch = pytest.importorskip("torch")
    importlib.import_module("torch.optim.lr_scheduler")
    return function(autograd_core), function(pytorch)


SCHEDULES: list[tuple[str, dict[str, Any]]] = [
    ("StepLR", {"step_size": 3}),
    ("CosineAnnealingLR", {"T_max": 4, "eta_min": 0.01}),
    ("LambdaLR", {"lr_lambda": lambda epoch: 0.95**epoch}),
    ("LambdaLR", {"lr_lambda": [lambda epoch: epoch, lambda epoch: 1 / (epoch + 1)]}),
]


def two_groups(torch: Any, optimizer: str) -> Any:
    x, y = (torch.tensor([1.0], requires_grad=True) for _ in range(2))
    options = {"lr": 0.3, "momentum": 0.9} if optimizer == "SGD" else {"lr": 0.3}
    return getattr(torch.optim, optimizer)([{"params": [x]}, {"params": [y], "lr": 0.2}], **options)


def schedule(torch: Any, make: Any, optimizer: str = "SGD", steps: int = 50) -> list[Any]:
    """Rates and momenta step by step."""
    made = two_groups(torch, optimizer)
    schedulers = make(torch.optim.lr_scheduler, made)
    seen = []
    for _ in range(steps):
        made.step()
        for scheduler in schedulers:
            scheduler.step()
        seen.append(
            [(g["lr"], g.get("momentum"), g.get("betas", [None])[0]) for g in made.param_groups]
        )
    seen.append(schedulers[-1].get_last_lr())
    return seen


def assert_same(mine: Any, theirs: Any) -> None:
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(
            np.array(a, float), np.array(b, float), rtol=1e-12, atol=1e-15, equal_nan=True
        )


@pytest.mark.torch
@pytest.mark.parametrize("optimizer", ["SGD", "Adam"])
@pytest.mark.parametrize(("name", "options"), SCHEDULES, ids=label)
def test_rates_are_those_of_pytorch(name: str, options: dict[str, Any], optimizer: str) -> None:
    def rates(torch: Any) -> list[Any]:
        return schedule(torch, lambda module, o: [getattr(module, name)(o, **options)], optimizer)

    assert_same(*both(rates))


@pytest.mark.torch
def test_schedules_can_be_chained() -> None:
    def rates(torch: Any) -> list[Any]:
        return schedule(
            torch,
            lambda module, o: [module.CosineAnnealingLR(o, 9), module.StepLR(o, 2, gamma=0.5)],
        )

    assert_same(*both(rates))


@pytest.mark.torch
@pytest.mark.parametrize(("name", "options"), SCHEDULES, ids=label)
def test_a_schedule_goes_to_any_epoch(name: str, options: dict[str, Any]) -> None:
    def rates(torch: Any) -> list[Any]:
        optimizer = two_groups(torch, "SGD")
        scheduler = getattr(torch.optim.lr_scheduler, name)(optimizer, **options)
        optimizer.step()
        seen = []
        for epoch in (0, 7, 3, 21):
            with pytest.warns(UserWarning, match="The epoch parameter"):
                scheduler.step(epoch)
            seen.append(scheduler.get_last_lr())
        return seen

    assert_same(*both(rates))


@pytest.mark.torch
def test_a_rate_may_be_a_tensor() -> None:
    def rates(torch: Any) -> list[float]:
        rate = torch.tensor(0.5)
        optimizer = torch.optim.SGD([torch.tensor([1.0], requires_grad=True)], lr=rate)
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        optimizer.step()
        first = scheduler.get_last_lr()[0]
        scheduler.step()
        return [first.item(), rate.item(), scheduler.base_lrs[0].item()]

    mine, theirs = both(rates)
    np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_a_schedule_goes_on_from_its_state() -> None:
    x = autograd_core.tensor([1.0], requires_grad=True)
    schedulers = autograd_core.optim.lr_scheduler
    optimizer = autograd_core.optim.SGD([x], lr=1.0)
    first = schedulers.StepLR(optimizer, 3, gamma=0.5)
    optimizer.step()
    for _ in range(4):
        first.step()
    state, options = first.state_dict(), optimizer.state_dict()
    assert "optimizer" not in state
    other = autograd_core.optim.SGD([x], lr=1.0)
    second = schedulers.StepLR(other, 99)
    second.load_state_dict(state)
    other.load_state_dict(options)
    for scheduler in (first, second):
        scheduler.step()
        scheduler.step()
    assert first.get_last_lr() == second.get_last_lr() == [0.25]
    assert second.last_epoch == 6


@pytest.mark.parametrize(
    "library", ["autograd_core", pytest.param("torch", marks=pytest.mark.torch)]
)
def test_the_wrong_order_of_steps_is_warned_about(library: str) -> None:
    if importlib.util.find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    torch = importlib.import_module(library)
    x = torch.tensor([1.0], requires_grad=True)
    scheduler = torch.optim.lr_scheduler.StepLR(torch.optim.SGD([x], lr=1.0), 1)
    with pytest.warns(UserWarning, match=r"before `optimizer\.step\(\)`"):
        scheduler.step()


@pytest.mark.torch
@pytest.mark.parametrize(("name", "options"), SCHEDULES, ids=label)
def test_a_state_of_pytorch_goes_on_here(name: str, options: dict[str, Any]) -> None:
    def started(torch: Any) -> tuple[Any, Any]:
        optimizer = two_groups(torch, "SGD")
        return optimizer, getattr(torch.optim.lr_scheduler, name)(optimizer, **options)

    (here, mine), (there, theirs) = both(started)
    there.step()
    for _ in range(6):
        theirs.step()
    mine.load_state_dict(theirs.state_dict())
    here.load_state_dict({"state": {}, "param_groups": there.state_dict()["param_groups"]})
    here.step()
    for _ in range(6):
        mine.step()
        theirs.step()
    np.testing.assert_allclose(mine.get_last_lr(), theirs.get_last_lr(), rtol=1e-12)


def test_wrong_options_are_named(torch: Any) -> None:
    importlib.import_module(f"{torch.__name__}.optim.lr_scheduler")
    with pytest.raises(ValueError, match="Expected 2 lr_lambdas, but got 0"):
        torch.optim.lr_scheduler.LambdaLR(two_groups(torch, "SGD"), [])
