"""``torch.distributions``: densities, entropies and divergences in both libraries."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import autograd_core
from autograd_core import distributions
from tests.autograd_core.side_by_side import Case, compare


@pytest.fixture
def dist(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.distributions")


LEFT_OUT = {
    "distributions that are neither Normal, Uniform, Bernoulli, Categorical nor mixtures": (
        "Beta Binomial Cauchy Chi2 ContinuousBernoulli Dirichlet Exponential ExponentialFamily "
        "FisherSnedecor Gamma GeneralizedPareto Geometric Gumbel HalfCauchy HalfNormal "
        "InverseGamma Kumaraswamy LKJCholesky Laplace LogNormal LogisticNormal "
        "LowRankMultivariateNormal Multinomial MultivariateNormal "
        "NegativeBinomial OneHotCategorical OneHotCategoricalStraightThrough Pareto Poisson "
        "RelaxedBernoulli RelaxedOneHotCategorical StudentT VonMises Weibull Wishart"
    ),
    "transforms": (
        "AbsTransform AffineTransform CatTransform ComposeTransform CorrCholeskyTransform "
        "CumulativeDistributionTransform ExpTransform IndependentTransform "
        "LowerCholeskyTransform PositiveDefiniteTransform PowerTransform ReshapeTransform "
        "SigmoidTransform SoftmaxTransform SoftplusTransform StackTransform "
        "StickBreakingTransform TanhTransform Transform TransformedDistribution "
        "biject_to identity_transform transform_to"
    ),
}
# name, the parameters' values, a value to look at
CASES: list[tuple[str, dict[str, Any], Any]] = [
    ("Normal", {"loc": [0.0, 1.0], "scale": [1.0, 2.5]}, [0.3, -1.0]),
    ("Uniform", {"low": [0.0, 1.0], "high": [2.0, 4.0]}, [0.5, 3.0]),
    ("Bernoulli", {"probs": [0.3, 0.9]}, [1.0, 0.0]),
    ("Bernoulli", {"logits": [0.3, -2.0]}, [1.0, 0.0]),
    ("Categorical", {"probs": [[1.0, 3.0], [0.2, 0.2]]}, [1.0, 0.0]),
    ("Categorical", {"logits": [0.3, -2.0, 0.1]}, 2.0),
]
ALL = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{'-'.join(case[1])}")


def made(torch: Any, name: str, names: Iterable[str], parameters: Iterable[Any]) -> Any:
    kind = getattr(importlib.import_module(f"{torch.__name__}.distributions"), name)
    return kind(**dict(zip(names, parameters, strict=True)))


@pytest.mark.torch
def test_all_names_are_there_but_those_left_out() -> None:
    theirs = pytest.importorskip("torch").distributions
    left_out = {name for names in LEFT_OUT.values() for name in names.split()}
    assert {name for name in theirs.__all__ if not hasattr(distributions, name)} == left_out


@pytest.mark.torch
@ALL
def test_densities_entropies_and_moments_are_pytorchs(case: tuple[str, Any, Any]) -> None:
    name, values, at = case

    def run(torch: Any, *parameters: Any) -> tuple[Any, ...]:
        d = made(torch, name, values, parameters)
        density = d.log_prob(torch.tensor(at, dtype=torch.float64))
        return density, d.entropy(), d.mean, d.variance, d.stddev, d.mode

    pytorch = pytest.importorskip("torch")
    whole = Case(name, tuple(values.values()), run, graph=False)
    compare(pytorch, whole)
    compare(pytorch, whole._replace(run=lambda *a: run(*a)[:2], graph=True))
    about = []
    for torch in (autograd_core, pytorch):
        d = made(torch, name, values, map(torch.tensor, values.values()))
        about.append([repr(d), repr(d.support), tuple(d.batch_shape), tuple(d.event_shape)])
    assert about[0] == about[1]


@pytest.mark.torch
@ALL
def test_divergences_are_pytorchs(case: tuple[str, Any, Any]) -> None:
    name, values, _ = case
    others = [np.multiply(v, 1.0 if k == "low" else 1.1) for k, v in values.items()]
    if name == "Categorical" and "probs" in values:
        others = [np.array([[0.5, 0.5], [0.1, 0.9]])]

    def run(torch: Any, *parameters: Any) -> Any:
        half = len(parameters) // 2
        pair = [made(torch, name, values, p) for p in (parameters[:half], parameters[half:])]
        return importlib.import_module(f"{torch.__name__}.distributions").kl_divergence(*pair)

    compare(pytest.importorskip("torch"), Case(name, (*values.values(), *others), run))


@ALL
def test_the_divergence_is_the_mean_of_the_difference_in_density(case: tuple[Any, ...]) -> None:
    autograd_core.manual_seed(3)
    name, values, _ = case
    wider = {"loc": 1.0, "low": 1.1, "probs": 1.05}
    others = [np.multiply(v, wider.get(k, 1.3)) + (-0.3 if k == "low" else 0.05 * (k == "loc"))
              for k, v in values.items()]  # fmt: skip
    p, q = (
        made(autograd_core, name, values, [autograd_core.tensor(np.array(v)) for v in parameters])
        for parameters in (values.values(), others)
    )
    count = 20_000
    x = p.sample((count,))
    differences = (p.log_prob(x) - q.log_prob(x)).numpy()
    exact = distributions.kl_divergence(p, q).numpy()
    error = differences.std(0) / np.sqrt(count)
    assert (np.abs(exact - differences.mean(0)) <= 5 * error + 1e-6).all()
    assert (exact >= -1e-7).all()


def test_an_impossible_value_makes_the_divergence_infinite(dist: Any, torch: Any) -> None:
    inf = float("inf")
    for p, q, expected in (([0.5, 1.0, 0.0], [0.0, 0.5, 0.0], [inf, np.log(2), 0.0]),
                           ([0.5, 1.0, 1.0], [1.0, 1.0, 0.0], [inf, 0.0, inf])):  # fmt: skip
        kl = dist.kl_divergence(dist.Bernoulli(torch.tensor(p)), dist.Bernoulli(torch.tensor(q)))
        np.testing.assert_allclose(kl.tolist(), expected, atol=1e-5)
        mass = dist.kl_divergence(
            *(dist.Categorical(torch.tensor([[x, 1 - x] for x in each])) for each in (p, q))
        )
        np.testing.assert_allclose(mass.tolist(), expected, atol=1e-5)
    narrow, wide = dist.Uniform(0.0, 1.0), dist.Uniform(0.0, 2.0)
    assert dist.kl_divergence(wide, narrow).item() == inf
    assert dist.kl_divergence(narrow, wide).item() == pytest.approx(np.log(2))


def test_samples_have_the_moments_they_should(dist: Any, torch: Any) -> None:
    torch.manual_seed(0)
    for d in (dist.Normal(1.0, 2.0), dist.Uniform(-1.0, 3.0), dist.Bernoulli(0.3)):
        x = d.sample((100_000,))
        assert x.mean().item() == pytest.approx(d.mean.item(), abs=0.05)
        assert x.std().item() == pytest.approx(d.stddev.item(), abs=0.1)


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


@pytest.mark.torch
@pytest.mark.parametrize("vectors", [False, True])
@pytest.mark.parametrize("batch", [(), (2,), (3, 2)])
def test_mixtures_are_pytorchs(batch: tuple[int, ...], vectors: bool) -> None:
    rng = np.random.default_rng(0)
    events = (2,) * vectors
    locs, scales = rng.normal(size=(2, *batch, 4, *events))

    def made(torch: Any, logits: Any, loc: Any, scale: Any) -> Any:
        dist = importlib.import_module(f"{torch.__name__}.distributions")
        normal = dist.Normal(loc, scale.exp())
        kinds = dist.Independent(normal, 1) if vectors else normal
        return dist.MixtureSameFamily(dist.Categorical(logits=logits), kinds)

    def run(torch: Any, *parameters: Any) -> tuple[Any, ...]:
        d = made(torch, *parameters)
        at = torch.tensor(rng_values)
        found = d.log_prob(at), d.mean, d.variance, d.stddev
        return found if vectors else (*found, d.cdf(at))

    rng_values = rng.normal(size=(5, *batch, *events))
    logits = rng.normal(size=(*batch, 4))
    pytorch = pytest.importorskip("torch")
    compare(pytorch, Case("mixture", (logits, locs, scales), run, graph=False))
    about = []
    for torch in (autograd_core, pytorch):
        d = made(torch, *(torch.tensor(each) for each in (logits, locs, scales)))
        texts, wide = [repr(d), repr(d.support)], d.expand((5, *batch))
        shapes = [d.batch_shape, d.event_shape, d.sample((7,)).shape, wide.sample().shape]
        about.append([*texts, *map(tuple, shapes), d.has_rsample])
    assert about[0] == about[1]


def test_a_mixture_draws_from_its_components(dist: Any, torch: Any) -> None:
    torch.manual_seed(0)
    mixture = dist.MixtureSameFamily(
        dist.Categorical(torch.tensor([0.25, 0.75])),
        dist.Normal(torch.tensor([-10.0, 10.0]), torch.tensor([0.1, 1.0])),
    )
    x = mixture.sample((20_000,))
    left = x < 0
    assert left.double().mean().item() == pytest.approx(0.25, abs=0.02)
    assert x[left].std().item() == pytest.approx(0.1, abs=0.01)
    assert x.mean().item() == pytest.approx(mixture.mean.item(), abs=0.3)
    assert x.std().item() == pytest.approx(mixture.stddev.item(), abs=0.3)


def test_what_does_not_fit_makes_no_mixture(dist: Any, torch: Any) -> None:
    normal, three = dist.Normal(torch.zeros(3), 1.0), dist.Categorical(torch.ones(3))
    for parts, said in (
        ((normal, normal), r"^ The Mixture distribution needs to be an  instance"),
        ((three, 3), r"^The Component distribution needs to be an instance"),
        ((dist.Categorical(torch.ones(2)), normal), r"component` \(2\) does not equal .*\(3\)"),
        ((dist.Categorical(torch.ones(4, 3)), dist.Normal(torch.zeros(5, 3), 1.0)),
         "is not compatible with"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=said):
            dist.MixtureSameFamily(*parts)
    uniform = dist.Uniform(torch.zeros(3), torch.ones(3))
    with pytest.raises(ValueError, match="within the support"):
        dist.MixtureSameFamily(three, uniform).log_prob(torch.tensor(2.0))


def test_values_that_must_not_be_are_refused(dist: Any, torch: Any) -> None:
    with pytest.raises(ValueError, match=r"Expected parameter scale .* GreaterThan"):
        dist.Normal(torch.zeros(2), torch.tensor([1.0, -1.0]))
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
