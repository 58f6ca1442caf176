"""``torch.distributions``: densities, entropies and divergences in both libraries."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograd_core
from autograd_core import distributions


@pytest.fixture
def dist(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.distributions")


# name, the parameters' values, a value to look at
CASES: list[tuple[str, dict[str, Any], Any]] = [
    ("Normal", {"loc": [0.0, 1.0], "scale": [1.0, 2.5]}, [0.3, -1.0]),
    ("LogNormal", {"loc": [0.0, 1.0], "scale": [1.0, 0.5]}, [0.3, 2.0]),
    ("HalfNormal", {"scale": [1.0, 0.5]}, [0.3, 2.0]),
    ("Laplace", {"loc": [0.0, 1.0], "scale": [1.0, 2.5]}, [0.3, -1.0]),
    ("Gumbel", {"loc": [0.0, 1.0], "scale": [1.0, 2.5]}, [0.3, -1.0]),
    ("Exponential", {"rate": [0.5, 3.0]}, [0.3, 2.0]),
    ("Uniform", {"low": [0.0, 1.0], "high": [2.0, 4.0]}, [0.5, 3.0]),
    ("Bernoulli", {"probs": [0.3, 0.9]}, [1.0, 0.0]),
    ("Bernoulli", {"logits": [0.3, -2.0]}, [1.0, 0.0]),
    ("Categorical", {"probs": [[1.0, 3.0], [0.2, 0.2]]}, [1.0, 0.0]),
    ("Categorical", {"logits": [0.3, -2.0, 0.1]}, 2.0),
    ("OneHotCategorical", {"logits": [0.3, -2.0, 0.1]}, [0.0, 1.0, 0.0]),
    ("MultivariateNormal", {"loc": [0.1, 0.2], "covariance_matrix": [[2.0, 0.5], [0.5, 1.0]]},
     [0.3, -0.4]),
    ("MultivariateNormal", {"loc": [0.1, 0.2], "precision_matrix": [[2.0, 0.5], [0.5, 1.0]]},
     [0.3, -0.4]),
    ("MultivariateNormal", {"loc": [[0.1, 0.2]] * 3, "scale_tril": [[2.0, 0.0], [0.5, 1.0]]},
     [0.3, -0.4]),
]  # fmt: skip
each = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{'-'.join(case[1])}")
BOTH = ("autograd_core", "torch")
ABOUT = ("mean", "variance", "stddev", "batch_shape", "event_shape")


def leaves(namespace: Any, values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: namespace.tensor(value, dtype=namespace.float64, requires_grad=True)
        for name, value in values.items()
    }


@pytest.mark.torch
@each
def test_densities_entropies_and_moments_are_pytorchs(case: tuple[str, Any, Any]) -> None:
    pytest.importorskip("torch")
    name, values, at = case
    found = []
    for library in BOTH:
        namespace = importlib.import_module(library)
        kind = getattr(importlib.import_module(f"{library}.distributions"), name)
        parameters = leaves(namespace, values)
        made = kind(**parameters)
        density = made.log_prob(namespace.tensor(at, dtype=namespace.float64))
        quantities = {"log_prob": density}
        quantities |= {"entropy": made.entropy()}
        gradients = [
            (f"d {what} / d {p}", g)
            for what, y in quantities.items()
            for p, g in zip(
                parameters,
                namespace.autograd.grad(y.sum(), list(parameters.values()), allow_unused=True,
                                        materialize_grads=True, retain_graph=True),
                strict=True,
            )
        ]  # fmt: skip
        about = {each: getattr(made, each) for each in ABOUT}
        everything = [*quantities.items(), *gradients, *about.items(), ("repr", repr(made))]
        found.append(everything)
    for (what, mine), (_, theirs) in zip(*found, strict=True):
        if isinstance(mine, autograd_core.Tensor):
            close = np.testing.assert_allclose
            close(mine.detach().numpy(), theirs.detach().numpy(), 1e-10, 1e-12, err_msg=what)
        else:
            assert str(mine).replace("autograd_core", "torch") == str(theirs), what


@pytest.mark.parametrize("case", [c for c in CASES if c[0] in (
    "Normal", "LogNormal", "Laplace", "Exponential", "Uniform", "Bernoulli", "Categorical",
    "MultivariateNormal")], ids=lambda case: f"{case[0]}-{'-'.join(case[1])}")  # fmt: skip
def test_the_divergence_is_the_mean_of_the_difference_in_density(case: tuple[Any, ...]) -> None:
    autograd_core.manual_seed(3)
    name, values, _ = case
    kind = getattr(distributions, name)
    p = kind(**leaves(autograd_core, values))
    changed = leaves(autograd_core, values)
    for parameter, value in changed.items():
        wider = parameter not in ("loc", "low", "probs", "logits")
        shift = 0.5 if parameter != "low" else -0.5
        with autograd_core.no_grad():
            value.mul_(1.3) if wider else value.add_(0.1 * shift)
    q = kind(**changed)
    x = p.sample((200_000,))
    estimate = (p.log_prob(x) - q.log_prob(x)).mean(0)
    exact = distributions.kl_divergence(p, q)
    np.testing.assert_allclose(exact.detach().numpy(), estimate.detach().numpy(), atol=0.01)


@pytest.mark.torch
@pytest.mark.parametrize("case", CASES[:1] + CASES[5:14], ids=lambda c: f"{c[0]}-{'-'.join(c[1])}")
def test_divergences_are_pytorchs(case: tuple[str, Any, Any]) -> None:
    pytest.importorskip("torch")
    name, values, _ = case
    found = []
    for library in BOTH:
        namespace = importlib.import_module(library)
        module = importlib.import_module(f"{library}.distributions")
        first, second = leaves(namespace, values), leaves(namespace, values)
        second = {
            k: (v * 1.1 if k != "low" else v * 1.0).detach().requires_grad_()
            for k, v in second.items()
        }
        if name == "Categorical" and "probs" in values:
            second = {"probs": namespace.tensor([[0.5, 0.5], [0.1, 0.9]], requires_grad=True)}
        kl = module.kl_divergence(
            getattr(module, name)(**first), getattr(module, name)(**second)
        ).sum()
        grads = namespace.autograd.grad(kl, [*first.values(), *second.values()],
                                        materialize_grads=True)  # fmt: skip
        found.append([kl, *grads])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), 1e-6, 1e-7)


def test_samples_have_the_moments_they_should(dist: Any, torch: Any) -> None:
    torch.manual_seed(0)
    for made in (dist.Normal(1.0, 2.0), dist.Laplace(1.0, 2.0), dist.Exponential(0.5),
                 dist.Uniform(-1.0, 3.0), dist.Bernoulli(0.3), dist.Gumbel(0.0, 1.0),
                 dist.HalfNormal(2.0)):  # fmt: skip
        x = made.sample((100_000,))
        assert x.mean().item() == pytest.approx(made.mean.item(), abs=0.05)
        assert x.std().item() == pytest.approx(made.stddev.item(), abs=0.1)


def test_a_reparametrized_sample_hands_its_gradient_on(dist: Any, torch: Any) -> None:
    loc = torch.zeros(3, requires_grad=True)
    scale = torch.ones(3, requires_grad=True)
    normal = dist.Normal(loc, scale)
    assert not normal.sample().requires_grad
    z = normal.rsample((2,))
    z.sum().backward()
    assert loc.grad.tolist() == [2, 2, 2]
    np.testing.assert_allclose(scale.grad.numpy(), z.detach().sum(0).numpy(), rtol=1e-5)


def test_the_last_dimensions_may_become_one_event(dist: Any, torch: Any) -> None:
    made = dist.Independent(dist.Normal(torch.zeros(4, 3), torch.ones(3)), 1)
    assert (tuple(made.batch_shape), tuple(made.event_shape)) == ((4,), (3,))
    assert tuple(made.log_prob(torch.zeros(4, 3)).shape) == (4,)
    assert tuple(made.expand((5, 4)).rsample((2,)).shape) == (2, 5, 4, 3)
    with pytest.raises(ValueError, match="reinterpreted_batch_ndims"):
        dist.Independent(dist.Normal(0.0, 1.0), 1)


def test_values_that_must_not_be_are_refused(dist: Any, torch: Any) -> None:
    with pytest.raises(ValueError, match=r"Expected parameter scale .* GreaterThan"):
        dist.Normal(torch.zeros(2), torch.tensor([1.0, -1.0]))
    with pytest.raises(ValueError, match="to satisfy the constraint PositiveDefinite"):
        dist.MultivariateNormal(torch.zeros(2), torch.tensor([[1.0, 2.0], [2.0, 1.0]]))
    with pytest.raises(ValueError, match="within the support"):
        dist.Bernoulli(torch.tensor(0.5)).log_prob(torch.tensor(0.5))
    with pytest.raises(ValueError, match="but not both"):
        dist.Categorical()
    assert dist.Normal(0.0, -1.0, validate_args=False).mean.item() == 0


class _Own(distributions.Normal):
    pass


def test_a_divergence_of_ones_own_takes_the_place_of_the_inherited_one() -> None:
    own, normal = _Own(0.0, 1.0), distributions.Normal(0.0, 1.0)
    assert distributions.kl_divergence(own, normal).item() == 0
    formula: Callable[..., Any] = lambda p, q: autograd_core.tensor(7.0)  # noqa: E731
    distributions.register_kl(_Own, distributions.Normal)(formula)
    assert distributions.kl_divergence(own, normal).item() == 7
    with pytest.raises(NotImplementedError, match="p type Normal and q type Uniform"):
        distributions.kl_divergence(normal, distributions.Uniform(0.0, 1.0))
