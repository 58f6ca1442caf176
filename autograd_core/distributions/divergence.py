"""The Kullback-Leibler divergence between distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_core.distributions.continuous import Normal, Uniform
from autograd_core.distributions.discrete import Bernoulli, Categorical
from autograd_core.distributions.distribution import Distribution, Independent, sum_rightmost
from autograd_core.nn import functional as F
from autograd_core.tensor import Tensor
from autograd_core.tensor.numeric import inf

Divergence = Callable[[Any, Any], Tensor]
_known: dict[tuple[type, type], Divergence] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[Divergence], Divergence]:
    """Register the decorated function for ``kl_divergence`` of these classes and subclasses."""
    for kind in (type_p, type_q):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise TypeError(f"Expected a Distribution subclass but got {kind!r}")

    def register(function: Divergence) -> Divergence:
        _known[type_p, type_q] = function
        return function

    return register


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Return the Kullback-Leibler divergence KL(p || q) for each distribution of the batch.

    Raises:
        NotImplementedError: no formula is registered for these classes; see :func:`register_kl`.
    """
    for type_p in type(p).__mro__:
        for type_q in type(q).__mro__:
            if (type_p, type_q) in _known:
                return _known[type_p, type_q](p, q)
    raise NotImplementedError(
        f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
    )


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    divergence = ((q.high - q.low) / (p.high - p.low)).log()
    divergence[(q.low > p.low) | (q.high < p.high)] = inf
    return divergence


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    one = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    one[(q.probs == 0).expand_as(one)] = inf
    one[(p.probs == 0).expand_as(one)] = 0
    zero = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    zero[(q.probs == 1).expand_as(zero)] = inf
    zero[(p.probs == 1).expand_as(zero)] = 0
    return one + zero


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    terms = p.probs * (p.logits - q.logits)
    terms[(q.probs == 0).expand_as(terms)] = inf
    terms[(p.probs == 0).expand_as(terms)] = 0
    return terms.sum(-1)


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
