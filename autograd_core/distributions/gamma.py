"""The gamma distribution, and those that are made of it."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from autograd_core.distributions import constraints
from autograd_core.distributions.distribution import Distribution, Shape, broadcast_all
from autograd_core.functions import as_tensor, generator
from autograd_core.numeric import inf, nan
from autograd_core.ops.gamma import standard_gamma
from autograd_core.tensor import Tensor


def draw_gamma(concentration: Tensor) -> Tensor:
    """A sample of rate 1 for each shape in ``concentration``, with a gradient by it."""
    part = np.asarray(generator().random(concentration._shape))
    # of what is closer to 1, rounding leaves no derivative
    return standard_gamma(concentration, part=part.clip(max=1 - 1e-12))


class Gamma(Distribution):
    """How long it takes until something that happens ``rate`` times per unit has happened
    ``concentration`` times, which need be no whole number."""

    has_rsample = True
    arg_constraints: ClassVar = {
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.nonnegative
    concentration: Tensor
    rate: Tensor

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        self.concentration, self.rate = broadcast_all(concentration, rate)
        super().__init__(self.concentration._shape, (), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.rate

    @property
    def mode(self) -> Tensor:
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self) -> Tensor:
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return draw_gamma(self.concentration.expand(*shape)) / self.rate.expand(*shape)

    def log_prob(self, value: Any) -> Tensor:
        value = as_tensor(value, dtype=self.rate.dtype)
        self._validate_sample(value)
        return (
            self.concentration.xlogy(self.rate)
            + (self.concentration - 1).xlogy(value)
            - self.rate * value
            - self.concentration.lgamma()
        )

    def entropy(self) -> Tensor:
        k = self.concentration
        return k - self.rate.log() + k.lgamma() + (1.0 - k) * k.digamma()


class Chi2(Gamma):
    """The sum of the squares of ``df`` normal random numbers."""

    arg_constraints: ClassVar = {"df": constraints.positive}

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        super().__init__(0.5 * df, 0.5, validate_args)

    @property
    def df(self) -> Tensor:
        return self.concentration * 2

    def expand(self, batch_shape: Shape) -> Chi2:
        return Chi2(self.df.expand(*batch_shape), self._validate_args)


class StudentT(Distribution):
    """A normal random number, divided by the deviation as ``df`` others estimate it; moved by
    ``loc`` and widened by ``scale``."""

    has_rsample = True
    arg_constraints: ClassVar = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    df: Tensor
    loc: Tensor
    scale: Tensor

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        super().__init__(self.df._shape, (), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc.masked_fill(self.df <= 1, nan)

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        wide = self.scale.pow(2) * self.df / (self.df - 2)
        return wide.masked_fill(self.df <= 2, inf).masked_fill(self.df <= 1, nan)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        squares = Chi2(self.df, validate_args=False).rsample(sample_shape)
        noise = self.loc.new_empty(*shape).normal_() * (squares / self.df).rsqrt()
        return self.loc + self.scale * noise

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        y, half = (value - self.loc) / self.scale, 0.5 * self.df
        return -(half + 0.5) * (y**2 / self.df).log1p() - (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + half.lgamma()
            - (half + 0.5).lgamma()
        )

    def entropy(self) -> Tensor:
        half = 0.5 * self.df
        log_beta = half.lgamma() + math.lgamma(0.5) - (half + 0.5).lgamma()
        rise = (half + 0.5).digamma() - half.digamma()
        return self.scale.log() + (half + 0.5) * rise + 0.5 * self.df.log() + log_beta
