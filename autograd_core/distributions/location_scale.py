"""Distributions that a location moves and a scale widens."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.distributions import constraints
from autograd_core.distributions.distribution import Distribution, Shape, broadcast_all
from autograd_core.functions import full_like, normal, rand, randn
from autograd_core.numeric import finfo, inf, nan
from autograd_core.tensor import Tensor

EULER = 0.57721566490153286


class _LocationScale(Distribution):
    has_rsample = True
    arg_constraints: ClassVar = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    loc: Tensor
    scale: Tensor

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc._shape, (), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        noise = self._noise(self._extended_shape(sample_shape))
        return self.loc + noise * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return self._log_density((value - self.loc) / self.scale) - self.scale.log()

    def _noise(self, shape: Shape) -> Tensor:
        """Samples at location 0 and scale 1."""
        raise NotImplementedError

    def _log_density(self, value: Tensor) -> Tensor:
        """The logarithm of the density at location 0 and scale 1."""
        raise NotImplementedError


class Normal(_LocationScale):
    """The normal distribution of mean ``loc`` and standard deviation ``scale``."""

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return normal(self.loc.expand(*shape), self.scale.expand(*shape))

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return 0.5 * (1 + ((value - self.loc) / self.scale / math.sqrt(2)).erf())

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * (2 * value - 1).erfinv() * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    def _noise(self, shape: Shape) -> Tensor:
        return randn(shape, dtype=self.loc.dtype)

    def _log_density(self, value: Tensor) -> Tensor:
        return -(value**2) / 2 - math.log(2 * math.pi) / 2


class Laplace(_LocationScale):
    """The double exponential distribution around ``loc``, of rate ``1 / scale``."""

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        apart = value - self.loc
        return 0.5 - 0.5 * apart.sign() * (-apart.abs() / self.scale).expm1()

    def icdf(self, value: Tensor) -> Tensor:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * (-2 * term.abs()).log1p()

    def entropy(self) -> Tensor:
        return 1 + (2 * self.scale).log()

    def _noise(self, shape: Shape) -> Tensor:
        eps = finfo(self.loc.dtype).eps
        u = self.loc.new_empty(*shape).uniform_(eps - 1, 1)
        return -u.sign() * (-u.abs().clamp(min=finfo(self.loc.dtype).tiny)).log1p()

    def _log_density(self, value: Tensor) -> Tensor:
        return -value.abs() - math.log(2)


class Cauchy(_LocationScale):
    """Where a ray in a random direction, from a point ``scale`` away, meets a line; it has
    neither mean nor variance."""

    @property
    def mean(self) -> Tensor:
        return full_like(self.loc, nan)

    @property
    def variance(self) -> Tensor:
        return full_like(self.loc, inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        return ((value - self.loc) / self.scale).atan() / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return (math.pi * (value - 0.5)).tan() * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()

    def _noise(self, shape: Shape) -> Tensor:
        return self.loc.new_empty(*shape).cauchy_()

    def _log_density(self, value: Tensor) -> Tensor:
        return -math.log(math.pi) - (value**2).log1p()


class Gumbel(_LocationScale):
    """The distribution of the greatest of many samples, with mode ``loc``."""

    @property
    def mean(self) -> Tensor:
        return self.loc + self.scale * EULER

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)

    @property
    def stddev(self) -> Tensor:
        return math.pi / math.sqrt(6) * self.scale

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + EULER)

    def _noise(self, shape: Shape) -> Tensor:
        limits = finfo(self.loc.dtype)
        u = rand(shape, dtype=self.loc.dtype).clamp(limits.tiny, 1 - limits.eps)
        return -(-u.log()).log()

    def _log_density(self, value: Tensor) -> Tensor:
        return -value - (-value).exp()
