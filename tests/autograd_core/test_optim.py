"""Stochastic gradient descent: by hand, by its state, and against PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_core
import autograd_core as torch
from autograd_core import nn, optim

OPTIONS: list[dict[str, Any]] = [
    {},
    {"momentum": 0.9},
    {"momentum": 0.9, "nesterov": True},
    {"momentum": 0.5, "dampening": 0.3},
    {"weight_decay": 0.1},
    {"momentum": 0.9, "weight_decay": 0.1, "maximize": True},
]


def test_a_step_of_sgd_is_that_by_hand() -> None:
    x = torch.tensor([3.0, -1.0], requires_grad=True)
    optimizer = optim.SGD([x], lr=0.1)
    (x * x).sum().backward()
    array, version = x.array, x._version
    optimizer.step()
    np.testing.assert_allclose(x.tolist(), [2.4, -0.8])
    assert x.array is array
    assert x._version == version + 1
    assert x.grad_fn is None


def test_momentum_is_that_by_hand() -> None:
    x = torch.tensor(1.0, requires_grad=True)
    optimizer = optim.SGD([x], lr=0.1, momentum=0.5)
    seen = []
    for _ in range(3):
        optimizer.zero_grad()
        (2 * x).backward()
        optimizer.step()
        seen.append(x.item())
    np.testing.assert_allclose(seen, [0.8, 0.5, 0.15], rtol=1e-6)  # velocities 2, 3, 3.5


def test_the_first_step_leaves_the_gradient_alone() -> None:
    x = torch.tensor([1.0], requires_grad=True)
    optimizer = optim.SGD([x], lr=0.1, momentum=0.9)
    x.sum().backward()
    optimizer.step()
    optimizer.step()
    assert x.grad.tolist() == [1.0]


def test_parameters_without_a_gradient_stay_as_they_are() -> None:
    x, y = (torch.tensor([1.0], requires_grad=True) for _ in range(2))
    optimizer = optim.SGD([x, y], lr=0.5, momentum=0.9)
    x.sum().backward()
    optimizer.step()
    assert (x.tolist(), y.tolist()) == ([0.5], [1.0])
    optimizer.zero_grad(set_to_none=False)
    assert (x.grad.tolist(), y.grad) == ([0.0], None)


def test_groups_have_options_of_their_own() -> None:
    x, y = (torch.tensor([1.0], requires_grad=True) for _ in range(2))
    optimizer = optim.SGD([{"params": x}, {"params": [y], "lr": 0.5}], lr=0.1)
    (x + y).sum().backward()
    optimizer.step()
    np.testing.assert_allclose([x.item(), y.item()], [0.9, 0.5])
    with pytest.raises(ValueError, match="more than one parameter group"):
        optimizer.add_param_group({"params": [y]})


def test_a_closure_runs_with_gradients_on() -> None:
    x = torch.tensor([2.0], requires_grad=True)
    optimizer = optim.SGD([x], lr=0.5)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (x * x).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        loss = optimizer.step(closure)
    assert (loss.item(), x.item()) == (4.0, 0.0)


def test_a_saved_state_goes_on_where_it_was() -> None:
    def steps(optimizer: optim.Optimizer, x: Any, count: int) -> None:
        for _ in range(count):
            optimizer.zero_grad()
            (x * x).sum().backward()
            optimizer.step()

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    optimizer = optim.SGD([x], lr=0.1, momentum=0.9)
    steps(optimizer, x, 2)
    state = optimizer.state_dict()
    assert list(state["state"]) == [0]
    assert state["param_groups"][0]["params"] == [0]
    y = torch.tensor(x.tolist(), requires_grad=True)
    other = optim.SGD([y], lr=7.0)
    other.load_state_dict(state)
    steps(optimizer, x, 3)
    steps(other, y, 3)
    assert x.tolist() == y.tolist()
    with pytest.raises(ValueError, match="doesn't match the size"):
        optim.SGD([x, y], lr=1.0).load_state_dict(state)


def train(namespace: Any, options: dict[str, Any]) -> list[Any]:
    rng = np.random.default_rng(0)
    data, target = rng.standard_normal((8, 3)), rng.standard_normal((8, 2))
    w, b = (
        namespace.tensor(rng.standard_normal(shape), requires_grad=True) for shape in ((2, 3), (2,))
    )
    groups = [{"params": [w]}, {"params": [b], "lr": 0.02}]
    optimizer = namespace.optim.SGD(groups, lr=0.1, **options)
    for _ in range(5):
        F = namespace.nn.functional
        loss = F.mse_loss(F.linear(namespace.tensor(data), w, b), namespace.tensor(target))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return [w.tolist(), b.tolist(), loss.item()]


@pytest.mark.torch
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: ", ".join(options) or "plain")
def test_five_steps_end_where_pytorch_ends(options: dict[str, Any]) -> None:
    pytorch = pytest.importorskip("torch")
    mine, theirs = train(autograd_core, options), train(pytorch, options)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_it_prints_its_options() -> None:
    text = repr(optim.SGD(nn.Linear(1, 1).parameters(), lr=0.5))
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
