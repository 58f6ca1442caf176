"""Optimizers: every number that PyTorch computes, from the same start."""

from __future__ import annotations

import importlib
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
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.5, "dampening": 0.3}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1, "maximize": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "foreach": False, "fused": False}),
]


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
        np.testing.assert_allclose(mine, theirs, rtol=1e-10)


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

    np.testing.assert_allclose(here.run(second, 3), there.run(first, 3), rtol=1e-10)


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


@pytest.mark.parametrize("name", ["Adam", "AdamW", "RMSprop", "Adagrad"])
def test_a_saved_state_goes_on_where_it_was(name: str) -> None:
    make = getattr(autograd_core.optim, name)
    one, other = Regression(autograd_core), Regression(autograd_core)
    first = make([one.w, one.b], lr=0.1)
    one.run(first, 2)
    other.w.array[...], other.b.array[...] = one.w.array, one.b.array
    second = make([other.w, other.b], lr=0.7)
    second.load_state_dict(first.state_dict())
    assert one.run(first, 2) == other.run(second, 2)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Adam", {"amsgrad": True}),
        ("AdamW", {}),
        ("RMSprop", {"momentum": 0.9, "centered": True}),
    ],
    ids=str,
)
def test_large_parameters_are_trained_as_small_ones(name: str, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    start = rng.standard_normal((2, 70_000))
    gradients = rng.standard_normal((3, 2, 70_000))

    def trained(columns: slice) -> Any:
        p = autograd_core.tensor(start[:, columns], requires_grad=True)
        optimizer = getattr(autograd_core.optim, name)([p], lr=0.1, **options)
        for g in gradients:
            p.grad = autograd_core.tensor(g[:, columns])
            optimizer.step()
        return p.detach().numpy()

    whole = trained(slice(None))
    np.testing.assert_array_equal(whole[:, 69_990:], trained(slice(69_990, None)))
    assert not (whole == start).any()


def test_a_step_of_sgd_is_that_by_hand() -> None:
    x = autograd_core.tensor([3.0, -1.0], requires_grad=True)
    optimizer = autograd_core.optim.SGD([x], lr=0.1)
    (x * x).sum().backward()
    array, version = x.array, x._version
    optimizer.step()
    np.testing.assert_allclose(x.tolist(), [2.4, -0.8])
    assert x.array is array
    assert x._version == version + 1
    assert x.grad_fn is None


def test_the_first_step_leaves_the_gradient_alone() -> None:
    x = autograd_core.tensor([1.0], requires_grad=True)
    optimizer = autograd_core.optim.SGD([x], lr=0.1, momentum=0.9)
    x.sum().backward()
    optimizer.step()
    optimizer.step()
    assert x.grad.tolist() == [1.0]


def test_parameters_without_a_gradient_stay_as_they_are() -> None:
    x, y = (autograd_core.tensor([1.0], requires_grad=True) for _ in range(2))
    optimizer = autograd_core.optim.SGD([x, y], lr=0.5, momentum=0.9)
    x.sum().backward()
    optimizer.step()
    assert (x.tolist(), y.tolist()) == ([0.5], [1.0])
    optimizer.zero_grad(set_to_none=False)
    assert (x.grad.tolist(), y.grad) == ([0.0], None)


def test_groups_have_options_of_their_own() -> None:
    x, y = (autograd_core.tensor([1.0], requires_grad=True) for _ in range(2))
    optimizer = autograd_core.optim.SGD([{"params": x}, {"params": [y], "lr": 0.5}], lr=0.1)
    (x + y).sum().backward()
    optimizer.step()
    np.testing.assert_allclose([x.item(), y.item()], [0.9, 0.5])
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group({"params": [y]})


def test_a_closure_runs_with_gradients_on() -> None:
    x = autograd_core.tensor([2.0], requires_grad=True)
    optimizer = autograd_core.optim.SGD([x], lr=0.5)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with autograd_core.no_grad():
        loss = optimizer.step(closure)
    assert (loss.item(), x.item()) == (4.0, 0.0)


def test_it_prints_its_options() -> None:
    text = repr(autograd_core.optim.SGD(autograd_core.nn.Linear(1, 1).parameters(), lr=0.5))
    assert text.startswith(
        "SGD (\nParameter Group 0\n    dampening: 0\n    differentiable: False\n"
    )


def test_parameters_may_come_with_their_names(torch: Any) -> None:
    model = torch.nn.Linear(2, 3)
    optimizer = torch.optim.SGD(model.named_parameters(), lr=0.5)
    (group,) = optimizer.param_groups
    assert group["param_names"] == ["weight", "bias"]
    assert group["params"][1] is model.bias
    model(torch.ones(1, 2)).sum().backward()
    before = model.bias.detach().clone()
    optimizer.step()
    assert torch.equal(model.bias.detach(), before - 0.5)


def test_hooks_of_a_step_get_the_optimizer_among_its_arguments(torch: Any) -> None:
    seen: list[Any] = []
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    optimizer.register_step_pre_hook(lambda o, args, kwargs: seen.append((o, args, kwargs)))
    optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append((o, args, kwargs)))
    optimizer.step()
    assert seen == [(optimizer, (optimizer,), {})] * 2


def test_a_state_of_other_parameters_is_refused(torch: Any) -> None:
    x, y = (torch.ones(1, requires_grad=True) for _ in range(2))
    state = torch.optim.SGD([x], lr=1.0).state_dict()
    with pytest.raises(ValueError, match="doesn't match the size"):
        torch.optim.SGD([x, y], lr=1.0).load_state_dict(state)
