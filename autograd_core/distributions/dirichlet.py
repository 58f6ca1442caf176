"""Distributions of fractions that add up to 1."""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_core.distributions import constraints
from autograd_core.distributions.distribution import Distribution, Shape, broadcast_all
from autograd_core.distributions.gamma import draw_gamma
from autograd_core.dtype import float64
from autograd_core.functions import stack
from autograd_core.nn import functional as F
from autograd_core.tensor import Tensor


class Dirichlet(Distribution):
    """Fractions along the last dimension, close to those of ``concentration``, the closer the
    greater these are.

    A sample is made of gamma random numbers, divided by their sum, and so is its gradient.
    """

    has_rsample = True
    arg_constraints: ClassVar = {
        "concentration": constraints.independent(constraints.positive, 1),
    }
    support = constraints.simplex
    concentration: Tensor

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        shape = concentration._shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        above = (self.concentration - 1).clamp(min=0.0)
        found = above / above.sum(-1, True)
        flat = (self.concentration < 1).all(-1, keepdim=True)
        greatest = F.one_hot(found.argmax(-1), self.event_shape[0]).to(found.dtype)
        return found.where(~flat, greatest)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(-1, True)
        apart = total - self.concentration
        return self.concentration * apart / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        expanded = self.concentration.expand(*self._extended_shape(sample_shape))
        drawn = draw_gamma(expanded.to(float64))  # where few of the smallest are 0
        return (drawn / drawn.sum(-1, True)).to(expanded.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        a = self.concentration
        return (a - 1.0).xlogy(value).sum(-1) + a.sum(-1).lgamma() - a.lgamma().sum(-1)

    def entropy(self) -> Tensor:
        a, k = self.concentration, self.event_shape[0]
        total = a.sum(-1)
        return (
            a.lgamma().sum(-1)
            - total.lgamma()
            - (k - total) * total.digamma()
            - ((a - 1.0) * a.digamma()).sum(-1)
        )


class Beta(Distribution):
    """A fraction: the first of the two of a :class:`Dirichlet` distribution."""

    has_rsample = True
    arg_constraints: ClassVar = {
        "concentration1": constraints.positive,
        "concentration0": constraints.positive,
    }
    support = constraints.unit_interval

    def __init__(
        self, concentration1: Any, concentration0: Any, validate_args: bool | None = None
    ) -> None:
        both = stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args)
        super().__init__(self._dirichlet.batch_shape, (), validate_args)

    def expand(self, batch_shape: Shape) -> Any:
        new = super().expand(batch_shape)
        new._dirichlet = self._dirichlet.expand(batch_shape)
        return new

    @property
    def concentration1(self) -> Tensor:
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Tensor:
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Tensor:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Tensor:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Tensor:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self._dirichlet.rsample(sample_shape)[..., 0]

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self._dirichlet.log_prob(stack([value, 1.0 - value], -1))

    def entropy(self) -> Tensor:
        return self._dirichlet.entropy()
