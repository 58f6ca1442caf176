"""Distributions of positive numbers."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autograd_core.distributions import constraints
from autograd_core.distributions.distribution import Distribution, Shape, broadcast_all
from autograd_core.distributions.location_scale import Normal
from autograd_core.tensor import Tensor


class Exponential(Distribution):
    """How long it takes until something happens that happens ``rate`` times per unit."""

    has_rsample = True
    arg_constraints: ClassVar = {"rate": constraints.positive}
    support = constraints.nonnegative
    rate: Tensor

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate._shape, (), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def mode(self) -> Tensor:
        return self.rate.detach() * 0

    @property
    def stddev(self) -> Tensor:
        return self.rate.reciprocal()

    @property
    def variance(self) -> Tensor:
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.rate.new_empty(*shape).exponential_() / self.rate

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return 1 - (-self.rate * value).exp()

    def icdf(self, value: Tensor) -> Tensor:
        return -(-value).log1p() / self.rate

    def entropy(self) -> Tensor:
        return 1.0 - self.rate.log()


class _OfNormal(Distribution):
    """A function of a normal random tensor."""

    has_rsample = True
    base_dist: Normal

    def expand(self, batch_shape: Shape) -> Any:
        new = super().expand(batch_shape)
        new.base_dist = self.base_dist.expand(batch_shape)
        return new

    @property
    def scale(self) -> Tensor:
        return self.base_dist.scale

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class LogNormal(_OfNormal):
    """What has a normal distribution as its logarithm."""

    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.positive

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.base_dist = Normal(loc, scale, validate_args)
        super().__init__(self.base_dist.batch_shape, (), validate_args)

    @property
    def loc(self) -> Tensor:
        return self.base_dist.loc

    @property
    def mean(self) -> Tensor:
        return (self.loc + self.scale.pow(2) / 2).exp()

    @property
    def mode(self) -> Tensor:
        return (self.loc - self.scale.pow(2)).exp()

    @property
    def variance(self) -> Tensor:
        square = self.scale.pow(2)
        return square.expm1() * (2 * self.loc + square).exp()

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape).exp()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logarithm = value.log()
        return self.base_dist.log_prob(logarithm) - logarithm

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() + self.loc


class HalfNormal(_OfNormal):
    """The absolute value of what has a normal distribution of mean 0."""

    arg_constraints: ClassVar = {"scale": constraints.positive}
    support = constraints.nonnegative

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        self.base_dist = Normal(0, scale, validate_args=False)
        super().__init__(self.base_dist.batch_shape, (), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        return self.scale.detach() * 0

    @property
    def variance(self) -> Tensor:
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape).abs()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self.base_dist.log_prob(value) + math.log(2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
