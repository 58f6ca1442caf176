"""Parametrized modules, in both libraries."""

from __future__ import annotations

import copy
import importlib
from typing import Any

import numpy as np
import pytest

import autograd_core

ROWS = np.random.default_rng(1).standard_normal((5, 4))


def parts(torch: Any) -> tuple[Any, Any, Any]:
    names = ("nn", "nn.utils.parametrize", "nn.utils.parametrizations")
    nn, parametrize, parametrizations = (
        importlib.import_module(f"{torch.__name__}.{name}") for name in names
    )
    return nn, parametrize, parametrizations


def symmetric(nn: Any, inverse: bool = False) -> Any:
    class Symmetric(nn.Module):
        def forward(self, x: Any) -> Any:
            return x.triu() + x.triu(1).mT

        if inverse:

            def right_inverse(self, x: Any) -> Any:
                return x.triu()

    return Symmetric()


def product(nn: Any) -> Any:
    class Product(nn.Module):
        def forward(self, length: Any, direction: Any) -> Any:
            return length * direction

        def right_inverse(self, x: Any) -> Any:
            return x.norm(), x / x.norm()

    return Product()


def square(torch: Any, nn: Any) -> Any:
    layer = nn.Linear(4, 4).double()
    layer.weight.data = torch.tensor(ROWS[:4])
    layer.bias.data = torch.tensor(ROWS[4])
    return layer


def test_a_parametrized_weight_is_computed_when_read(torch: Any) -> None:
    nn, parametrize, _ = parts(torch)
    layer = square(torch, nn)
    weight = layer.weight
    assert not parametrize.is_parametrized(layer)
    assert parametrize.register_parametrization(layer, "weight", symmetric(nn)) is layer
    assert parametrize.is_parametrized(layer, "weight")
    assert not parametrize.is_parametrized(layer, "bias")
    assert torch.equal(layer.weight, layer.weight.mT)
    assert layer.parametrizations.weight.original is weight
    assert list(layer.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert [name for name, _ in layer.named_modules()] == [
        "", "parametrizations", "parametrizations.weight", "parametrizations.weight.0",
    ]  # fmt: skip
    assert type(layer).__name__ == "ParametrizedLinear"
    assert isinstance(layer, nn.Linear)
    assert parametrize.type_before_parametrizations(layer) is nn.Linear
    layer(torch.tensor(ROWS)).sum().backward()
    assert weight.grad.tril(-1).abs().sum().item() == 0 != weight.grad.triu(1).abs().sum().item()


def test_an_assigned_value_is_led_back(torch: Any) -> None:
    nn, parametrize, _ = parts(torch)
    layer = parametrize.register_parametrization(square(torch, nn), "weight", symmetric(nn, True))
    layer.weight = torch.eye(4, dtype=torch.float64)
    assert torch.equal(layer.weight, torch.eye(4, dtype=torch.float64))
    other = parametrize.register_parametrization(square(torch, nn), "weight", symmetric(nn))
    with pytest.raises(RuntimeError, match="Symmetric does not implement right_inverse"):
        other.weight = torch.eye(4, dtype=torch.float64)


def test_several_parametrizations_follow_each_other(torch: Any) -> None:
    nn, parametrize, _ = parts(torch)
    layer = parametrize.register_parametrization(square(torch, nn), "weight", symmetric(nn, True))
    parametrize.register_parametrization(layer, "weight", nn.Hardtanh())
    parametrize.register_parametrization(layer, "bias", nn.Tanh())
    assert layer.weight.abs().max().item() == 1
    assert torch.equal(layer.weight, layer.weight.mT)
    np.testing.assert_allclose(layer.bias.tolist(), np.tanh(ROWS[4]))
    parametrize.remove_parametrizations(layer, "weight")
    assert type(layer).__name__ == "ParametrizedLinear"
    parametrize.remove_parametrizations(layer, "bias", leave_parametrized=False)
    assert type(layer) is nn.Linear
    assert layer.bias.tolist() == ROWS[4].tolist()
    assert sorted(name for name, _ in layer.named_parameters()) == ["bias", "weight"]


def test_a_weight_of_several_tensors(torch: Any) -> None:
    nn, parametrize, _ = parts(torch)
    layer = square(torch, nn)
    parametrize.register_parametrization(layer, "weight", product(nn), unsafe=True)
    names = [name for name, _ in layer.named_parameters()]
    assert names == [
        "bias", "parametrizations.weight.original0", "parametrizations.weight.original1",
    ]  # fmt: skip
    np.testing.assert_allclose(layer.weight.tolist(), ROWS[:4])
    layer.weight = torch.tensor(2 * ROWS[:4])
    np.testing.assert_allclose(layer.weight.tolist(), 2 * ROWS[:4])
    with pytest.raises(ValueError, match="Cannot leave unparametrized"):
        parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False)
    parametrize.remove_parametrizations(layer, "weight")
    assert isinstance(layer.weight, nn.Parameter)
    np.testing.assert_allclose(layer.weight.tolist(), 2 * ROWS[:4])


def test_within_cached_a_weight_is_computed_once(torch: Any) -> None:
    nn, parametrize, _ = parts(torch)
    layer = parametrize.register_parametrization(square(torch, nn), "weight", symmetric(nn))
    assert layer.weight is not layer.weight
    with parametrize.cached():
        first = layer.weight
        with parametrize.cached():
            assert layer.weight is first
        assert layer.weight is first
    assert layer.weight is not first


def test_a_copy_is_parametrized_by_its_own(torch: Any) -> None:
    nn, parametrize, _ = parts(torch)
    layer = parametrize.register_parametrization(square(torch, nn), "weight", symmetric(nn, True))
    other = copy.deepcopy(layer)
    other.weight = torch.zeros(4, 4, dtype=torch.float64)
    assert other.weight.abs().sum().item() == 0 != layer.weight.abs().sum().item()


@pytest.mark.parametrize(
    ("run", "said"),
    [
        (lambda nn, p, x: p.register_parametrization(x, "wait", nn.ReLU()), "with name 'wait'"),
        (lambda nn, p, x: p.remove_parametrizations(x, "weight"), "does not have a parametriz"),
        (
            lambda nn, p, x: p.register_parametrization(x, "weight", nn.Flatten(0)),
            "may not change the shape of the tensor",
        ),
        (lambda nn, p, x: p.ParametrizationList([], x.weight), "requires one or more modules"),
    ],
)
def test_what_cannot_be_parametrized_is_told(torch: Any, run: Any, said: str) -> None:
    nn, parametrize, _ = parts(torch)
    with pytest.raises(ValueError, match=said):
        run(nn, parametrize, square(torch, nn))


# the parametrizations that come with it


def trained(torch: Any, make: Any, shape: tuple[int, int] = (4, 3)) -> dict[str, Any]:
    """State, value and gradients of a layer whose state is set to known numbers."""
    nn, _, parametrizations = parts(torch)
    rng = np.random.default_rng(3)
    layer = nn.Linear(*shape).double()
    layer.weight.data = torch.tensor(rng.standard_normal((shape[1], shape[0])))
    make(parametrizations, layer)
    state = layer.state_dict()
    for name, value in state.items():
        if name.endswith(("_u", "_v", "original", "bias")):
            value.copy_(torch.tensor(rng.standard_normal(tuple(value.shape)).clip(0.1)))
    with torch.no_grad():
        start = layer.parametrizations.weight[0]
        if hasattr(start, "_u"):
            start._u /= start._u.norm()
            start._v /= start._v.norm()
    x = torch.tensor(rng.standard_normal((5, shape[0])))
    loss = layer(x).sin().sum()
    loss.backward()
    found = {name: p.grad for name, p in layer.named_parameters()}
    found |= {f"state {name}": value for name, value in layer.state_dict().items()}
    layer.eval()
    found |= {"weight": layer.weight, "loss": loss}
    return {name: value.detach().numpy() for name, value in found.items()}


PARAMETRIZATIONS: dict[str, Any] = {
    "weight_norm": lambda p, layer: p.weight_norm(layer),
    "weight_norm of all": lambda p, layer: p.weight_norm(layer, dim=None),
    "spectral_norm": lambda p, layer: p.spectral_norm(layer, n_power_iterations=2),
    "spectral_norm of a vector": lambda p, layer: (
        p.spectral_norm(layer, "bias") and p.weight_norm(layer)
    ),
}


@pytest.mark.torch
@pytest.mark.parametrize("shape", [(4, 3), (3, 4), (3, 3)])
@pytest.mark.parametrize("name", PARAMETRIZATIONS)
def test_a_parametrization_computes_what_pytorch_computes(
    name: str, shape: tuple[int, int]
) -> None:
    pytorch = pytest.importorskip("torch")
    mine, theirs = (trained(t, PARAMETRIZATIONS[name], shape) for t in (autograd_core, pytorch))
    assert list(mine) == list(theirs)
    for key, value in theirs.items():
        np.testing.assert_allclose(mine[key], value, rtol=1e-8, atol=1e-10, err_msg=key)


def test_a_power_iteration_finds_the_largest_singular_value(torch: Any) -> None:
    nn, _, parametrizations = parts(torch)
    layer = parametrizations.spectral_norm(square(torch, nn), n_power_iterations=50)
    weight = layer.weight.detach().numpy()
    assert np.linalg.svd(weight)[1][0] == pytest.approx(1)
