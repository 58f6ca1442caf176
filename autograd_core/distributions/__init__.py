"""Probability distributions, under the names of ``torch.distributions``.

>>> from autograd_core import tensor
>>> from autograd_core.distributions import Normal, kl_divergence
>>> q = Normal(tensor([0.0, 1.0], requires_grad=True), 1.0)
>>> kl_divergence(q, Normal(0.0, 1.0))
tensor([0.0000, 0.5000], grad_fn=<MulBackward0>)
"""

from autograd_core.distributions import constraints
from autograd_core.distributions.continuous import Normal, Uniform
from autograd_core.distributions.discrete import Bernoulli, Categorical
from autograd_core.distributions.distribution import Distribution, Independent
from autograd_core.distributions.divergence import kl_divergence, register_kl
from autograd_core.distributions.mixture import MixtureSameFamily
from autograd_core.fallback import answer_missing_names

__all__ = [
    "Bernoulli", "Categorical", "Distribution", "Independent", "MixtureSameFamily", "Normal",
    "Uniform", "constraints", "kl_divergence", "register_kl",
]  # fmt: skip

answer_missing_names(__name__)
