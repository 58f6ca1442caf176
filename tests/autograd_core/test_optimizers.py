"""Optimizers and schedules: every number that PyTorch computes, from the same start."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np
import pytest

import autograd_core

OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("Adam", {}),
    ("Adam", {"lr": 0.1, "betas": (0.8, 0.9), "weight_decay": 0.1, "amsgrad": True}),
    ("Adam", {"lr": 0.1, "maximize": True, "decoupled_weight_decay": True, "weight_decay": 0.1}),
    ("AdamW", {"lr": 0.1}),
    ("AdamW", {"lr": 0.1, "maximize": True, "eps": 1e-3}),
    ("RMSprop", {}),
    ("RMSprop", {"centered": True, "momentum": 0.5, "weight_decay": 0.1}),
    ("Adagrad", {}),
    ("Adagrad", {"lr_decay": 0.1, "initial_accumulator_value": 0.5, "weight_decay": 0.1}),
    ("Adadelta", {}),
    ("Adadelta", {"rho": 0.8, "weight_decay": 0.1, "maximize": True}),
    ("Adamax", {"lr": 0.1}),
    ("Adamax", {"betas": (0.8, 0.9), "weight_decay": 0.1, "maximize": True}),
    ("NAdam", {"lr": 0.1}),
    ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("NAdam", {"weight_decay": 0.1, "momentum_decay": 0.1}),
    ("RAdam", {"lr": 0.1, "betas": (0.8, 0.7)}),
    ("RAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.1, "etas": (0.3, 1.5), "step_sizes": (0.05, 0.2)}),
    ("ASGD", {"lr": 0.1}),
    ("ASGD", {"lr": 0.1, "t0": 2, "lambd": 0.1, "weight_decay": 0.1}),
    ("Adafactor", {"lr": 0.1}),
    ("Adafactor", {"lr": 0.1, "weight_decay": 0.1, "d": 1.5, "maximize": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "foreach": False, "fused": False}),
]
# Where PyTorch itself rounds a number of its state to single precision.
ROUNDED = {"NAdam": 1e-6, "ASGD": 1e-6, "Adafactor": 1e-6}


def label(value: Any) -> str | None:
    return ", ".join(value) or "plain" if isinstance(value, dict) else None


class Regression:
    """A small problem, the same in both libraries."""

    def __init__(self, torch: Any) -> None:
        rng = np.random.default_rng(0)
        self.data = torch.tensor(rng.standard_normal((8, 3)))
        self.target = torch.tensor(rng.standard_normal((8, 2)))
        self.w = torch.tensor(rng.standard_normal((2, 3)), requires_grad=True)
        self.b = torch.tensor(rng.standard_normal(2), requires_grad=True)
        self.F = torch.nn.functional

    def loss(self) -> Any:
        return self.F.mse_loss(self.F.linear(self.data, self.w, self.b).tanh(), self.target)

    def run(self, optimizer: Any, steps: int) -> list[float]:
        losses = []

        def closure() -> Any:
            optimizer.zero_grad()
            loss = self.loss()
            loss.backward()
            losses.append(loss.item())
            return loss

        for _ in range(steps):
            optimizer.step(closure)
        return losses


def both(function: Any) -> tuple[Any, Any]:
    pytorch = pytest.importorskip("torch")
    importlib.import_module("torch.optim.lr_scheduler")
    return function(autograd_core), function(pytorch)


@pytest.mark.torch
@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=label)
def test_steps_end_where_pytorch_ends(name: str, options: dict[str, Any]) -> None:
    def train(torch: Any) -> list[Any]:
        problem = Regression(torch)
        groups = [{"params": [problem.w]}, {"params": [problem.b], "lr": 0.05}]
        optimizer = getattr(torch.optim, name)(groups, **options)
        losses = problem.run(optimizer, 6)
        return [losses, problem.w.tolist(), problem.b.tolist()]

    for mine, theirs in zip(*both(train), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=ROUNDED.get(name, 1e-10))


@pytest.mark.torch
@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=label)
def test_the_state_has_the_form_of_pytorch(name: str, options: dict[str, Any]) -> None:
    def trained(torch: Any) -> tuple[Any, Any]:
        problem = Regression(torch)
        optimizer = getattr(torch.optim, name)([problem.w, problem.b], **options)
        problem.run(optimizer, 2)
        return torch, optimizer.state_dict()

    (here, mine), (there, theirs) = both(trained)
    assert list(mine) == list(theirs)
    for group, other in zip(mine["param_groups"], theirs["param_groups"], strict=True):
        assert group == other
    assert set(mine["state"]) == set(theirs["state"])
    for number, state in theirs["state"].items():
        assert set(mine["state"][number]) == set(state)
        for key, value in state.items():
            found = mine["state"][number][key]
            assert isinstance(found, here.Tensor) == isinstance(value, there.Tensor)
            assert tuple(found.shape) == tuple(value.shape)
            assert repr(found.dtype) == repr(value.dtype)
            np.testing.assert_allclose(found.numpy(), value.numpy(), rtol=1e-6)


@pytest.mark.torch
@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=label)
def test_a_state_of_pytorch_goes_on_here(name: str, options: dict[str, Any]) -> None:
    theirs = pytest.importorskip("torch")
    there, here = Regression(theirs), Regression(autograd_core)
    first = getattr(theirs.optim, name)([there.w, there.b], **options)
    there.run(first, 3)
    for t, other in ((here.w, there.w), (here.b, there.b)):
        t.data = autograd_core.tensor(other.detach().numpy())
    second = getattr(autograd_core.optim, name)([here.w, here.b], **options)
    state = first.state_dict()
    state["state"] = {
        number: {key: autograd_core.tensor(value.numpy()) for key, value in kept.items()}
        for number, kept in state["state"].items()
    }
    second.load_state_dict(state)
    rtol = ROUNDED.get(name, 1e-10)
    np.testing.assert_allclose(here.run(second, 3), there.run(first, 3), rtol=rtol)


def test_hooks_are_called_around_a_step(torch: Any) -> None:
    importlib.import_module(f"{torch.__name__}.optim")
    p = torch.tensor([1.0], requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.5)
    seen: list[Any] = []
    before = optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append(p.item()))
    optimizer.register_step_post_hook(
        lambda o, args, kwargs: seen.append((o is optimizer, p.item()))
    )
    p.grad = torch.tensor([1.0])
    optimizer.step()
    before.remove()
    optimizer.step()
    assert seen == [1.0, (True, 0.5), (True, 0.0)]


def test_an_unknown_option_is_refused(torch: Any) -> None:
    importlib.import_module(f"{torch.__name__}.optim")
    p = torch.tensor([1.0], requires_grad=True)
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'speed'"):
        torch.optim.SGD([p], speed=2)


@pytest.mark.torch
@pytest.mark.parametrize(
    "options",
    [
        {"lr": 0.5, "max_iter": 6},
        {"lr": 0.1, "history_size": 2, "max_iter": 7},
        {"line_search_fn": "strong_wolfe", "max_iter": 6},
        {"line_search_fn": "strong_wolfe", "lr": 30.0, "max_iter": 7, "history_size": 3},
        {"line_search_fn": "strong_wolfe", "lr": 0.01, "max_eval": 6},
    ],
    ids=str,
)
def test_lbfgs_makes_the_same_moves(options: dict[str, Any]) -> None:
    def train(torch: Any) -> list[Any]:
        problem = Regression(torch)
        optimizer = torch.optim.LBFGS([problem.w, problem.b], **options)
        losses = problem.run(optimizer, 3)
        return [losses, problem.w.tolist(), problem.b.tolist()]

    for mine, theirs in zip(*both(train), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-8, atol=1e-10)


def test_lbfgs_has_one_group() -> None:
    problem = Regression(autograd_core)
    with pytest.raises(ValueError, match="doesn't support per-parameter options"):
        autograd_core.optim.LBFGS([{"params": [problem.w]}, {"params": [problem.b]}])


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("Adam", {"lr": -1.0}, "Invalid learning rate: -1.0"),
        ("Adam", {"betas": (0.9, 1.0)}, "Invalid beta parameter at index 1: 1.0"),
        ("AdamW", {"eps": -1.0}, "Invalid epsilon value: -1.0"),
        ("RMSprop", {"momentum": -1.0}, "Invalid momentum value: -1.0"),
        ("Adagrad", {"lr_decay": -1.0}, "Invalid lr_decay value: -1.0"),
    ],
)
def test_wrong_options_are_named(name: str, options: dict[str, Any], said: str) -> None:
    x = autograd_core.tensor([1.0], requires_grad=True)
    with pytest.raises(ValueError, match=said):
        getattr(autograd_core.optim, name)([x], **options)


@pytest.mark.parametrize("name", ["Adam", "AdamW", "RMSprop", "Adagrad", "LBFGS"])
def test_a_saved_state_goes_on_where_it_was(name: str) -> None:
    make = getattr(autograd_core.optim, name)
    one, other = Regression(autograd_core), Regression(autograd_core)
    first = make([one.w, one.b], lr=0.1)
    one.run(first, 2)
    other.w.array[...], other.b.array[...] = one.w.array, one.b.array
    second = make([other.w, other.b], lr=0.7)
    second.load_state_dict(first.state_dict())
    assert one.run(first, 2) == other.run(second, 2)


# --- schedules ---------------------------------------------------------------------------------

SCHEDULES: list[tuple[str, dict[str, Any]]] = [
    ("StepLR", {"step_size": 3}),
    ("MultiStepLR", {"milestones": [2, 5, 5], "gamma": 0.5}),
    ("ExponentialLR", {"gamma": 0.9}),
    ("CosineAnnealingLR", {"T_max": 4, "eta_min": 0.01}),
    ("LambdaLR", {"lr_lambda": lambda epoch: 0.95**epoch}),
    ("LambdaLR", {"lr_lambda": [lambda epoch: epoch, lambda epoch: 1 / (epoch + 1)]}),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 12}),
    (
        "OneCycleLR",
        {"max_lr": [1.0, 0.5], "epochs": 3, "steps_per_epoch": 4, "anneal_strategy": "linear"},
    ),
    ("OneCycleLR", {"max_lr": 1.0, "total_steps": 12, "three_phase": True}),
]


def schedule(torch: Any, make: Any, optimizer: str = "SGD", steps: int = 11) -> list[Any]:
    """Rates and momenta step by step."""
    x, y = (torch.tensor([1.0], requires_grad=True) for _ in range(2))
    options = {"lr": 0.3, "momentum": 0.9} if optimizer == "SGD" else {"lr": 0.3}
    made = getattr(torch.optim, optimizer)([{"params": [x]}, {"params": [y], "lr": 0.2}], **options)
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
            lambda module, o: [module.ExponentialLR(o, 0.9), module.StepLR(o, 2, gamma=0.5)],
        )

    assert_same(*both(rates))


@pytest.mark.torch
@pytest.mark.parametrize(
    "options",
    [
        {"patience": 1, "factor": 0.5},
        {"patience": 0, "mode": "max", "cooldown": 2},
        {"patience": 1, "threshold": 0.3, "threshold_mode": "abs", "min_lr": 0.1},
        {"patience": 0, "mode": "max", "threshold": 0.1, "threshold_mode": "abs"},
    ],
    ids=str,
)
def test_a_plateau_is_waited_for(options: dict[str, Any]) -> None:
    measures = [1.0, 0.9, 0.8999999, 0.95, 0.7, 0.71, 0.72, 0.73, 0.74, 0.2, 0.3, 0.4, 0.4]

    def rates(torch: Any) -> list[Any]:
        x = torch.tensor([1.0], requires_grad=True)
        optimizer = torch.optim.SGD([x], lr=0.3)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        seen = []
        for measure in measures:
            scheduler.step(torch.tensor(measure))
            seen.append((scheduler.get_last_lr()[0], scheduler.num_bad_epochs))
        return seen

    assert_same(*both(rates))


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
