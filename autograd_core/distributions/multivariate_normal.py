"""The normal distribution of vectors."""

from __future__ import annotations

import math
from typing import ClassVar

from autograd_core import linalg
from autograd_core.distributions import constraints
from autograd_core.distributions.distribution import Distribution, Shape, derived
from autograd_core.functions import eye, randn
from autograd_core.linalg.older import cholesky_inverse
from autograd_core.numeric import broadcast_shapes
from autograd_core.tensor import Tensor


class MultivariateNormal(Distribution):
    """Vectors with the mean ``loc`` (..., n), and one of: their covariance (..., n, n), its
    inverse ``precision_matrix``, or its Cholesky factor ``scale_tril``.

    Raises:
        ValueError: not exactly one of the three is given, or it is no matrix.
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
        """The Cholesky factor of the covariance, from whatever was given."""
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
        """Half the logarithm of the determinant of the covariance."""
        return self._factor.diagonal(0, -2, -1).log().sum(-1)


def mahalanobis(scale_tril: Tensor, x: Tensor) -> Tensor:
    """``x @ covariance.inverse() @ x`` for each vector in the last dimension."""
    solved = linalg.solve_triangular(scale_tril, x.unsqueeze(-1), upper=False)
    return solved.pow(2).sum((-2, -1))
