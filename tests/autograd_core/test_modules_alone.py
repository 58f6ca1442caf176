"""Modules, nn.init and nn.utils: facts that hold in both libraries, whatever the numbers."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest


@pytest.mark.parametrize("name", ["Dropout", "Dropout1d", "Dropout2d", "Dropout3d"])
def test_dropout_drops_elements_or_channels(torch: Any, name: str) -> None:
    torch.manual_seed(0)
    x = torch.ones(64, 8, 2, 2, *(2,) * (name == "Dropout3d"))
    x = x.reshape(64, 8, -1) if name == "Dropout1d" else x
    module = getattr(torch.nn, name)(0.25)
    y = np.asarray(module(x).numpy())
    assert set(np.unique(y)) == {np.float32(0), np.float32(1 / 0.75)}
    whole = (y.reshape(64 * 8, -1) == y.reshape(64 * 8, -1)[:, :1]).all()
    assert whole == (name != "Dropout")
    assert abs(y.mean() - 1) < 0.12
    assert module.eval()(x) is x or (module(x) == x).all()


def test_dictionaries_register_their_modules(torch: Any) -> None:
    modules = torch.nn.ModuleDict({"a": torch.nn.Linear(1, 1)})
    modules["b"] = torch.nn.ReLU()
    assert list(modules) == ["a", "b"]
    assert [name for name, _ in modules.named_parameters()] == ["a.weight", "a.bias"]
    assert "a" in modules
    assert isinstance(modules.pop("b"), torch.nn.ReLU)
    assert len(modules) == 1
    assert len(copy.deepcopy(modules)) == 1


def test_what_does_not_fit_is_said(torch: Any) -> None:
    nn = torch.nn
    with pytest.raises(ValueError, match="expected 4D input"):
        nn.BatchNorm2d(3)(torch.ones(2, 3))
    with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
        nn.BatchNorm1d(3)(torch.ones(1, 3))
    with pytest.raises(ValueError, match="must be divisible by num_groups"):
        nn.GroupNorm(2, 3)
    with pytest.raises(ValueError, match="dropout probability has to be between 0 and 1"):
        nn.Dropout2d(1.5)
    with pytest.raises(AssertionError, match="divisible by num_heads"):
        nn.MultiheadAttention(5, 2)
    with pytest.raises(RuntimeError, match=r"input.size\(-1\) must be equal to input_size"):
        nn.LSTM(3, 2)(torch.ones(2, 2, 4))


# --- init and utils ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "mean", "std"),
    [
        ("xavier_uniform_", {}, 0, np.sqrt(2 / 300)),
        ("xavier_normal_", {"gain": 2.0}, 0, 2 * np.sqrt(2 / 300)),
        ("kaiming_uniform_", {"nonlinearity": "relu"}, 0, np.sqrt(2 / 100)),
        ("kaiming_normal_", {"mode": "fan_out", "a": 0.1}, 0, np.sqrt(2 / 1.01 / 200)),
        ("normal_", {"mean": 1.0, "std": 2.0}, 1, 2),
        ("uniform_", {"a": -1.0, "b": 3.0}, 1, 4 / np.sqrt(12)),
        ("trunc_normal_", {"std": 0.5, "a": -0.5, "b": 0.5}, 0, 0.5 * 0.5396),
        ("constant_", {"val": 3.0}, 3, 0),
    ],
)
def test_parameters_start_out_as_their_authors_say(
    torch: Any, name: str, options: dict[str, Any], mean: float, std: float
) -> None:
    torch.manual_seed(0)
    weight = torch.zeros(200, 100)
    assert getattr(torch.nn.init, name)(weight, **options) is weight
    values = np.asarray(weight.numpy(), float)
    assert abs(values.mean() - mean) < 0.05 * max(std, 1)
    assert values.std() == pytest.approx(std, rel=0.05)


def test_matrices_are_filled_as_the_initializers_say(torch: Any) -> None:
    init = torch.nn.init
    for shape in ((4, 6), (6, 2, 2)):
        q = np.asarray(
            init.orthogonal_(torch.zeros(*shape), gain=2.0).reshape(shape[0], -1).numpy()
        )
        small = q @ q.T if q.shape[0] < q.shape[1] else q.T @ q
        np.testing.assert_allclose(small, 4 * np.eye(len(small)), atol=1e-5)
    assert init.calculate_gain("relu") == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("norm_type", [2.0, 1.0, float("inf")])
def test_gradients_are_clipped_together(torch: Any, norm_type: float) -> None:
    utils = torch.nn.utils
    parameters = [torch.zeros(2, requires_grad=True), torch.zeros(1, requires_grad=True)]
    parameters[0].grad = torch.tensor([3.0, 0.0])
    parameters[1].grad = torch.tensor([-4.0])
    total = {2.0: 5.0, 1.0: 7.0}.get(norm_type, 4.0)
    assert utils.clip_grad_norm_(parameters, 1.0, norm_type).item() == pytest.approx(total)
    assert parameters[0].grad.tolist() == pytest.approx([3 / total, 0], rel=1e-5)
    utils.clip_grad_value_(parameters, 0.1)
    assert parameters[1].grad.tolist() == pytest.approx([-0.1])
    parameters[0].grad = torch.tensor([float("nan"), 0.0])
    with pytest.raises(RuntimeError, match="non-finite"):
        utils.clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True)
