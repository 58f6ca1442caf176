"""Multivariate distributions: Dirichlet, Beta (one element of a Dirichlet) and
MultivariateNormal."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autograd_core import linalg
from autograd_core.distributions import constraints
from autograd_core.distributions.continuous import draw_gamma
from autograd_core.distributions.distribution import Distribution, Shape, broadcast_all, derived
from autograd_core.dtype import float64
from autograd_core.functions import eye, randn, stack
from autograd_core.linalg.aliases import cholesky_inverse
from autograd_core.nn import functional as F
from autograd_core.tensor import Tensor
from autograd_core.tensor.numeric import broadcast_shapes


class Dirichlet(Distribution):
    """The Dirichlet distribution: vectors in the last dimension that are positive and sum to 1.

    A sample is a vector of gamma samples divided by its sum; its gradient flows through both.
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
    """The beta distribution: the first element of a two-element :class:`Dirichlet` sample."""

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


class MultivariateNormal(Distribution):
    """The multivariate normal distribution with mean ``loc`` (..., n) and one of:
    ``covariance_matrix`` (..., n, n), its inverse ``precision_matrix``, or its lower Cholesky
    factor ``scale_tril``.

    Raises:
        ValueError: not exactly one of the three is given, or it is not a matrix.
    """

    has_rsample = True
    support = constraints.real_vector
    arg_constraints: ClassVar = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        matrices = {
            "covariance_matrix": covariance_matrix,
            "scale_tril": scale_tril,
            "precision_matrix": precision_matrix,
        }
        given = [(name, matrix) for name, matrix in matrices.items() if matrix is not None]
        if len(given) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be "
                "specified."
            )
        ((name, matrix),) = given
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch, n = broadcast_shapes(matrix._shape[:-2], loc._shape[:-1]), loc._shape[-1]
        self.loc = loc.expand(*batch, n)
        self.__dict__[name] = matrix.expand(*batch, *matrix._shape[-2:])
        super().__init__(batch, (n,), validate_args)

    @derived
    def _factor(self) -> Tensor:
        """Return the Cholesky factor of the covariance, from whatever was given."""
        if "scale_tril" in self.__dict__:
            return self.scale_tril
        if "precision_matrix" not in self.__dict__:
            return linalg.cholesky(self.covariance_matrix)
        # the factor of an inverse: of the matrix turned round, turned back, and inverted
        turned = linalg.cholesky(self.precision_matrix.flip(-2, -1))
        factor = turned.flip(-2, -1).mT
        own = eye(self.loc._shape[-1], dtype=self.loc.dtype)
        return linalg.solve_triangular(factor, own, upper=False)

    @derived
    def scale_tril(self) -> Tensor:
        return self._factor

    @derived
    def covariance_matrix(self) -> Tensor:
        return self._factor @ self._factor.mT

    @derived
    def precision_matrix(self) -> Tensor:
        return cholesky_inverse(self._factor)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        return self._factor.pow(2).sum(-1)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        noise = randn(self._extended_shape(sample_shape), dtype=self.loc.dtype)
        return self.loc + (self._factor @ noise.unsqueeze(-1)).squeeze(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        distance = mahalanobis(self._factor, value - self.loc)
        n = self.event_shape[0]
        return -0.5 * (n * math.log(2 * math.pi) + distance) - self.half_log_det()

    def entropy(self) -> Tensor:
        n = self.event_shape[0]
        return 0.5 * n * (1.0 + math.log(2 * math.pi)) + self.half_log_det()

    def half_log_det(self) -> Tensor:
        """Return half the logarithm of the determinant of the covariance."""
        return self._factor.diagonal(0, -2, -1).log().sum(-1)


def mahalanobis(scale_tril: Tensor, x: Tensor) -> Tensor:
    """Return ``x @ covariance.inverse() @ x`` for each vector in the last dimension."""
    solved = linalg.solve_triangular(scale_tril, x.unsqueeze(-1), upper=False)
    return solved.pow(2).sum((-2, -1))
