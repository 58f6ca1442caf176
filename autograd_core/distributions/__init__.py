"""Probability distributions, under the names of ``torch.distributions``.

>>> from autograd_core import tensor
>>> q = Normal(tensor([0.0, 1.0], requires_grad=True), 1.0)
>>> kl_divergence(q, Normal(0.0, 1.0))
tensor([0.0000, 0.5000], grad_fn=<MulBackward0>)
"""

from autograd_core.distributions import constraints, transforms
from autograd_core.distributions.bernoulli import Bernoulli
from autograd_core.distributions.categorical import Categorical, OneHotCategorical
from autograd_core.distributions.counts import Binomial, Geometric, Multinomial, Poisson
from autograd_core.distributions.dirichlet import Beta, Dirichlet
from autograd_core.distributions.distribution import Distribution
from autograd_core.distributions.divergence import kl_divergence, register_kl
from autograd_core.distributions.gamma import Chi2, Gamma, StudentT
from autograd_core.distributions.independent import Independent
from autograd_core.distributions.location_scale import Cauchy, Gumbel, Laplace, Normal
from autograd_core.distributions.mixture import MixtureSameFamily
from autograd_core.distributions.multivariate_normal import MultivariateNormal
from autograd_core.distributions.positive import Exponential, HalfNormal, LogNormal
from autograd_core.distributions.transformed import TransformedDistribution
from autograd_core.distributions.transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from autograd_core.distributions.uniform import Uniform

__all__ = [
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ComposeTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "Gamma",
    "Geometric",
    "Gumbel",
    "HalfNormal",
    "Independent",
    "Laplace",
    "LogNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "Normal",
    "OneHotCategorical",
    "Poisson",
    "PowerTransform",
    "SigmoidTransform",
    "SoftplusTransform",
    "StudentT",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "constraints",
    "identity_transform",
    "kl_divergence",
    "register_kl",
    "transforms",
]
