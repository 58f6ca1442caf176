"""``torch.distributions``: densities, entropies and divergences in both libraries."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaincinv

import autograd_core
from autograd_core import distributions
from autograd_core.ops.gamma import standard_gamma_grad


@pytest.fixture
def dist(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.distributions")


LEFT_OUT = {
    "seldom used": (
        "ContinuousBernoulli ExponentialFamily FisherSnedecor GeneralizedPareto HalfCauchy "
        "InverseGamma Kumaraswamy LKJCholesky LogisticNormal LowRankMultivariateNormal "
        "NegativeBinomial OneHotCategoricalStraightThrough Pareto RelaxedBernoulli "
        "RelaxedOneHotCategorical VonMises Weibull Wishart"
    ),
    "transforms that change the shape of an event, or have no inverse": (
        "AbsTransform CatTransform CorrCholeskyTransform CumulativeDistributionTransform "
        "IndependentTransform LowerCholeskyTransform PositiveDefiniteTransform ReshapeTransform "
        "SoftmaxTransform StackTransform StickBreakingTransform"
    ),
    "constraints are checked, not mapped to": "biject_to transform_to",
}
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
    ("Gamma", {"concentration": [0.6, 3.0], "rate": [0.5, 2.0]}, [0.3, 2.0]),
    ("Chi2", {"df": [3.0, 4.5]}, [0.3, 2.0]),
    ("StudentT", {"df": [1.5, 4.5], "loc": [0.0, 1.0], "scale": [1.0, 0.5]}, [0.3, 2.0]),
    ("Cauchy", {"loc": [0.0, 1.0], "scale": [1.0, 2.5]}, [0.3, -1.0]),
    ("Dirichlet", {"concentration": [[0.6, 3.0, 1.0], [2.0, 2.0, 2.0]]}, [0.2, 0.3, 0.5]),
    ("Beta", {"concentration1": [0.6, 3.0], "concentration0": [2.5, 2.0]}, [0.2, 0.7]),
    ("Poisson", {"rate": [0.6, 3.0]}, [0.0, 4.0]),
    ("Geometric", {"probs": [0.3, 0.9]}, [0.0, 4.0]),
    ("Geometric", {"logits": [0.3, -0.9]}, [0.0, 4.0]),
    ("Binomial", {"total_count": 5, "probs": [0.3, 0.9]}, [0.0, 4.0]),
    ("Binomial", {"total_count": 5, "logits": [0.3, -0.9]}, [0.0, 4.0]),
    ("Multinomial", {"total_count": 5, "probs": [0.3, 0.9, 0.3]}, [0.0, 4.0, 1.0]),
    ("Multinomial", {"total_count": 5, "logits": [[0.3, 0.9], [1.0, 2.0]]}, [3.0, 2.0]),
]  # fmt: skip
each = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{'-'.join(case[1])}")
BOTH = ("autograd_core", "torch")
ABOUT = ("mean", "variance", "stddev", "batch_shape", "event_shape")


def leaves(namespace: Any, values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        if isinstance(value, int)
        else namespace.tensor(value, dtype=namespace.float64, requires_grad=True)
        for name, value in values.items()
    }


def tensors(parameters: dict[str, Any]) -> list[Any]:
    return [value for value in parameters.values() if not isinstance(value, int)]


@pytest.mark.torch
def test_all_names_are_there_but_those_left_out() -> None:
    theirs = pytest.importorskip("torch").distributions
    left_out = {name for names in LEFT_OUT.values() for name in names.split()}
    assert {name for name in theirs.__all__ if not hasattr(distributions, name)} == left_out


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
        if name != "Poisson":  # which has none in either
            quantities |= {"entropy": made.entropy()}
        gradients = [
            (f"d {what} / d {p}", g)
            for what, y in quantities.items()
            for p, g in zip(
                parameters,
                namespace.autograd.grad(y.sum(), tensors(parameters), allow_unused=True,
                                        materialize_grads=True, retain_graph=True),
                strict=False,
            )
        ]  # fmt: skip
        about = {each: getattr(made, each) for each in ABOUT}
        everything = [*quantities.items(), *gradients, *about.items(), ("repr", repr(made))]
        found.append(everything)
    for (what, mine), (_, theirs) in zip(*found, strict=True):
        if isinstance(mine, autograd_core.Tensor):
            close = np.testing.assert_allclose
            rtol = 2e-8 if what.startswith("d entropy") else 1e-10  # their trigamma has 9 digits
            close(mine.detach().numpy(), theirs.detach().numpy(), rtol, 1e-12, err_msg=what)
        else:
            assert str(mine).replace("autograd_core", "torch") == str(theirs), what


WITHOUT_ESTIMATE = "HalfNormal Gumbel OneHotCategorical Chi2 StudentT Cauchy Multinomial"
WITH_DIVERGENCE = [case for case in CASES if case[0] not in WITHOUT_ESTIMATE]


@pytest.mark.parametrize("case", WITH_DIVERGENCE, ids=lambda case: f"{case[0]}-{'-'.join(case[1])}")
def test_the_divergence_is_the_mean_of_the_difference_in_density(case: tuple[Any, ...]) -> None:
    autograd_core.manual_seed(3)
    name, values, _ = case
    kind = getattr(distributions, name)
    p = kind(**leaves(autograd_core, values))
    changed = leaves(autograd_core, values)
    for parameter, value in changed.items():
        if isinstance(value, int):
            continue
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
@pytest.mark.parametrize(
    "case", CASES[:1] + CASES[5:16] + CASES[18:26], ids=lambda c: f"{c[0]}-{'-'.join(c[1])}"
)
def test_divergences_are_pytorchs(case: tuple[str, Any, Any]) -> None:
    pytest.importorskip("torch")
    name, values, _ = case
    found = []
    for library in BOTH:
        namespace = importlib.import_module(library)
        module = importlib.import_module(f"{library}.distributions")
        first, second = leaves(namespace, values), leaves(namespace, values)
        second = {
            k: v
            if k == "total_count"
            else (v * (1.0 if k == "low" else 1.1)).detach().requires_grad_()
            for k, v in second.items()
        }
        if name == "Categorical" and "probs" in values:
            second = {"probs": namespace.tensor([[0.5, 0.5], [0.1, 0.9]], requires_grad=True)}
        kl = module.kl_divergence(
            getattr(module, name)(**first), getattr(module, name)(**second)
        ).sum()
        grads = namespace.autograd.grad(kl, [*tensors(first), *tensors(second)],
                                        materialize_grads=True)  # fmt: skip
        found.append([kl, *grads])
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), 1e-6, 1e-7)


def test_samples_have_the_moments_they_should(dist: Any, torch: Any) -> None:
    torch.manual_seed(0)
    for made in (dist.Normal(1.0, 2.0), dist.Laplace(1.0, 2.0), dist.Exponential(0.5),
                 dist.Uniform(-1.0, 3.0), dist.Bernoulli(0.3), dist.Gumbel(0.0, 1.0),
                 dist.HalfNormal(2.0), dist.Gamma(0.7, 2.0), dist.Beta(0.5, 2.0), dist.Poisson(3.0),
                 dist.Geometric(0.3), dist.Binomial(5, torch.tensor(0.3)), dist.StudentT(9.0, 1.0),
                 dist.Chi2(torch.tensor(2.0)),
                 dist.MixtureSameFamily(dist.Categorical(torch.ones(2)),
                                        dist.Normal(torch.tensor([0.0, 3.0]), 1.0))):  # fmt: skip
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


def test_samples_of_vectors_have_the_moments_they_should(dist: Any, torch: Any) -> None:
    torch.manual_seed(0)
    for made in (dist.Dirichlet(torch.tensor([0.5, 2.0, 1.0])),
                 dist.Multinomial(5, torch.tensor([0.5, 0.2, 0.3]))):  # fmt: skip
        x = made.sample((50_000,))
        assert x.shape == (50_000, 3)
        np.testing.assert_allclose(x.mean(0).numpy(), made.mean.numpy(), atol=0.03)
        np.testing.assert_allclose(x.var(0).numpy(), made.variance.numpy(), atol=0.05)


def test_the_gradient_of_a_sample_is_that_of_the_mean(dist: Any, torch: Any) -> None:
    torch.manual_seed(0)
    for kind, values in ((dist.Gamma, (0.7, 2.0)), (dist.Gamma, (30.0, 2.0)),
                         (dist.Beta, (0.5, 2.0)), (dist.StudentT, (9.0, 1.0))):  # fmt: skip
        parameters = [torch.tensor(value, requires_grad=True) for value in values]
        made = kind(*parameters)
        sampled = torch.autograd.grad(made.rsample((100_000,)).pow(2).mean(), parameters)
        exact = torch.autograd.grad(made.variance + made.mean**2, parameters, allow_unused=True)
        for one, other in zip(sampled, exact, strict=True):
            assert one.item() == pytest.approx(0.0 if other is None else other.item(), 0.05, 0.02)


def test_a_sample_of_the_gamma_distribution_has_one_derivative(dist: Any, torch: Any) -> None:
    shape = torch.tensor([0.5, 2.0], requires_grad=True)
    drawn = dist.Gamma(shape, torch.ones(2)).rsample()
    (slope,) = torch.autograd.grad(drawn.sum(), shape, create_graph=True)
    with pytest.raises(NotImplementedError, match="derivative for '_standard_gamma_grad' is not"):
        torch.autograd.grad(slope.sum(), shape)


@pytest.mark.torch
def test_a_sample_moves_with_its_shape_as_in_pytorch() -> None:
    torch = pytest.importorskip("torch")
    shapes, parts = np.meshgrid([0.01, 0.3, 1.0, 4.0, 50.0, 1e4], [0.01, 0.3, 0.9, 0.9999])
    samples = gammaincinv(shapes, parts)
    exact = torch._standard_gamma_grad(torch.tensor(shapes), torch.tensor(samples)).numpy()
    np.testing.assert_allclose(standard_gamma_grad(shapes, samples), exact, rtol=2e-3)


def test_a_sample_may_be_sent_through_functions(dist: Any, torch: Any) -> None:
    loc = torch.tensor([0.3, -0.2, 1.0], dtype=torch.float64, requires_grad=True)
    squashed = dist.TransformedDistribution(
        dist.Normal(loc, 2.0), [dist.AffineTransform(0.5, 2.0), dist.TanhTransform(cache_size=1)]
    )
    y = squashed.rsample((4,))
    assert (squashed.batch_shape, y.shape) == ((3,), (4, 3))
    assert torch.isfinite(squashed.log_prob(y)).all()
    at = torch.tensor([0.5, -0.9, 0.1], dtype=torch.float64)
    logarithm = squashed.log_prob(at)
    (slope,) = torch.autograd.grad(logarithm.sum(), loc)
    before = (np.arctanh(at.numpy()) - 0.5) / 2.0 - loc.detach().numpy()
    stretch = np.log(2 * (1 - at.numpy() ** 2))
    exact = -(before**2) / 8 - np.log(2 * np.sqrt(2 * np.pi)) - stretch
    np.testing.assert_allclose(logarithm.detach().numpy(), exact, rtol=1e-12)
    np.testing.assert_allclose(slope.numpy(), before / 4, rtol=1e-12)
    assert repr(squashed.support) == "Interval(lower_bound=-1.0, upper_bound=1.0)"
    one = dist.TransformedDistribution(dist.Normal(torch.zeros(2, 3), 1.0),
                                       dist.AffineTransform(0.0, 2.0, event_dim=1))  # fmt: skip
    assert (one.batch_shape, one.event_shape) == ((2,), (3,))
    assert one.log_prob(torch.zeros(2, 3)).shape == (2,)
    assert one.expand((5, 2)).sample().shape == (5, 2, 3)


@pytest.mark.parametrize("name", ["Exp", "Sigmoid", "Softplus", "Tanh", "Affine", "Power"])
def test_a_transform_knows_its_inverse_and_its_stretch(name: str, dist: Any, torch: Any) -> None:
    arguments = {"Affine": (1.0, -3.0), "Power": (2.0,)}.get(name, ())
    transform = getattr(dist, f"{name}Transform")(*arguments)
    x = torch.tensor([0.3, 1.5], dtype=torch.float64, requires_grad=True)
    y = transform(x)
    np.testing.assert_allclose(transform.inv(y).detach().numpy(), x.detach().numpy(), rtol=1e-9)
    (slope,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
    stretch = transform.log_abs_det_jacobian(x, y)
    np.testing.assert_allclose(stretch.detach().numpy(), slope.abs().log().numpy(), rtol=1e-9)
    back = transform.inv.log_abs_det_jacobian(y, x)
    np.testing.assert_allclose(back.detach().numpy(), -stretch.detach().numpy(), rtol=1e-9)
    twice = dist.ComposeTransform([transform, dist.AffineTransform(0.0, 2.0)])
    more = twice.log_abs_det_jacobian(x, twice(x)) - stretch
    np.testing.assert_allclose(more.detach().numpy(), np.log([2.0, 2.0]), rtol=1e-9)


@pytest.mark.torch
def test_a_mixture_has_pytorchs_density() -> None:
    pytest.importorskip("torch")
    found = []
    for library in BOTH:
        t, d = (importlib.import_module(f"{library}{part}") for part in ("", ".distributions"))
        loc = t.tensor([[0.0, 1.0], [2.0, 3.0], [4.0, 7.0]], dtype=t.float64, requires_grad=True)
        weights = t.tensor([0.2, 0.3, 0.5], dtype=t.float64, requires_grad=True)
        made = d.MixtureSameFamily(d.Categorical(weights), d.Independent(d.Normal(loc, 1.5), 1))
        y = made.log_prob(t.tensor([[0.5, 1.5], [3.0, 2.0]], dtype=t.float64))
        grads = t.autograd.grad(y.sum(), [loc, weights])
        found.append([y, *grads, made.mean, made.variance])
        assert made.sample((5,)).shape == (5, 2)
        with pytest.raises(ValueError, match="does not equal"):
            d.MixtureSameFamily(d.Categorical(weights), d.Normal(t.zeros(2), 1.0))
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine.detach().numpy(), theirs.detach().numpy(), 1e-10)
