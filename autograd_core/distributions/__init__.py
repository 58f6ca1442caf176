"""Probability distributions, under the names of ``torch.distributions``.

>>> from autograd_core import tensor
>>> q = Normal(tensor([0.0, 1.0], requires_grad=True), 1.0)
>>> kl_divergence(q, Normal(0.0, 1.0))
tensor([0.0000, 0.5000], grad_fn=<MulBackward0>)
"""

from autograd_core.distributions import constraints, transforms
from autograd_core.distributions.composite import Independent, TransformedDistribution
from autograd_core.distributions.continuous import Exponential, Gamma, Laplace, Normal, Uniform
from autograd_core.distributions.discrete import Bernoulli, Categorical, OneHotCategorical
from autograd_core.distributions.distribution import Distribution
from autograd_core.distributions.divergence import kl_divergence, register_kl
from autograd_core.distributions.transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    TanhTransform,
    Transform,
)
from autograd_core.distributions.vectors import Beta, Dirichlet, MultivariateNormal
from autograd_core.fallback import answer_missing_names

__all__ = [
    "AffineTransform",
    "Bernoulli",
    "Beta",
    "Categorical",
    "ComposeTransform",
    "Dirichlet",
    "Distribution",
    "ExpTransform",
    "Exponential",
    "Gamma",
    "Independent",
    "Laplace",
    "MultivariateNormal",
    "Normal",
    "OneHotCategorical",
    "TanhTransform",
    "Transform",
    "TransformedDistribution",
    "Uniform",
    "constraints",
    "kl_divergence",
    "register_kl",
    "transforms",
]

answer_missing_names(__name__)
