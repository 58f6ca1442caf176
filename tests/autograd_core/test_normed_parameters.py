"""Weight and spectral normalization, held to PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograd_core

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::FutureWarning")]
WEIGHT = np.random.default_rng(0).standard_normal((3, 4))
ROWS = np.random.default_rng(1).standard_normal((5, 4))
START = np.array([0.6, 0.0, 0.8]), np.array([0.5, 0.5, -0.5, 0.5])


def layer(torch: Any) -> Any:
    made = torch.nn.Linear(4, 3).double()
    made.weight.data = torch.tensor(WEIGHT)
    made.bias.data = torch.tensor(WEIGHT[:, 0])
    return made


def compare(run: Any) -> None:
    mine, theirs = (run(each) for each in (autograd_core, pytest.importorskip("torch")))
    for ours, other in zip(mine, theirs, strict=True):
        if isinstance(other, list):
            assert ours == other
        else:
            np.testing.assert_allclose(ours.detach().numpy(), other.detach().numpy(), rtol=1e-9)


@pytest.mark.parametrize("dim", [0, 1, None])
def test_a_weight_of_length_and_direction(dim: int | None) -> None:
    def run(torch: Any) -> list[Any]:
        made = torch.nn.utils.weight_norm(layer(torch), dim=dim)
        out = made(torch.tensor(ROWS)).tanh()
        names = [name for name, _ in made.named_parameters()]
        gradients = torch.autograd.grad((out * out).sum(), list(made.parameters()))
        torch.nn.utils.remove_weight_norm(made)
        return [names, out, *gradients, list(made.state_dict()), made.weight]

    compare(run)


def test_the_weight_comes_out_of_one_node() -> None:
    def run(torch: Any) -> list[Any]:
        made = torch.nn.utils.weight_norm(layer(torch))
        made(torch.tensor(ROWS))
        node = made.weight.grad_fn
        return [[node.name(), len(node.next_functions)]]

    compare(run)


def test_a_weight_over_its_largest_singular_value() -> None:
    def run(torch: Any) -> list[Any]:
        made = torch.nn.utils.spectral_norm(layer(torch), n_power_iterations=2)
        for buffer, start in zip((made.weight_u, made.weight_v), START, strict=True):
            buffer.copy_(torch.tensor(start))
        x = torch.tensor(ROWS)
        first, second = made(x), made(x)
        names = sorted(made.state_dict())
        gradients = torch.autograd.grad((first * second).sum(), list(made.parameters()))
        made.eval()
        before = made.weight_u.clone()
        made(x)
        assert (before == made.weight_u).all()
        found = [names, first, second, *gradients, made.weight_u, made.weight_v]
        torch.nn.utils.remove_spectral_norm(made)
        return [*found, sorted(made.state_dict()), made.weight]

    compare(run)


def test_what_is_not_normed_cannot_be_freed_of_it() -> None:
    def said(torch: Any) -> list[Any]:
        with pytest.raises(ValueError, match="not found in") as error:
            torch.nn.utils.remove_weight_norm(layer(torch))
        return [[str(error.value)]]

    compare(said)


@pytest.mark.filterwarnings("ignore:.*weight_norm")
def test_one_length_of_all_weights_has_a_gradient_of_its_shape(torch: Any) -> None:
    layer = torch.nn.utils.weight_norm(torch.nn.Linear(5, 4), dim=None)
    x = torch.arange(5.0).reshape(1, 5)
    (g,) = torch.autograd.grad(layer(x).pow(2).sum(), layer.weight_g, create_graph=True)
    assert g.shape == layer.weight_g.shape == ()
    layer(x).sum().backward()
    assert layer.weight_g.grad.shape == ()
