"""Several random numbers as one random vector."""

from __future__ import annotations

from typing import ClassVar

from autograd_core.distributions import constraints
from autograd_core.distributions.distribution import Distribution, Shape
from autograd_core.size import Size
from autograd_core.tensor import Tensor


class Independent(Distribution):
    """``base_distribution``, with its last ``reinterpreted_batch_ndims`` batch dimensions taken
    for dimensions of one event: their log-probabilities are summed.

    Raises:
        ValueError: it has fewer batch dimensions.
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}

    def __init__(
        self,
        base_distribution: Distribution,
        reinterpreted_batch_ndims: int,
        validate_args: bool | None = None,
    ) -> None:
        batch = base_distribution.batch_shape
        if reinterpreted_batch_ndims > len(batch):
            raise ValueError(
                "Expected reinterpreted_batch_ndims <= len(base_distribution.batch_shape), "
                f"actual {reinterpreted_batch_ndims} vs {len(batch)}"
            )
        self.base_dist = base_distribution
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        kept = len(batch) - reinterpreted_batch_ndims
        super().__init__(batch[:kept], batch[kept:] + base_distribution.event_shape, validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def support(self) -> constraints.Constraint:
        own = self.base_dist.support
        count = self.reinterpreted_batch_ndims
        return constraints.independent(own, count) if count else own

    @property
    def mean(self) -> Tensor:
        return self.base_dist.mean

    @property
    def mode(self) -> Tensor:
        return self.base_dist.mode

    @property
    def variance(self) -> Tensor:
        return self.base_dist.variance

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        return self.base_dist.sample(sample_shape)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self.base_dist.rsample(sample_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        return sum_rightmost(self.base_dist.log_prob(value), self.reinterpreted_batch_ndims)

    def entropy(self) -> Tensor:
        return sum_rightmost(self.base_dist.entropy(), self.reinterpreted_batch_ndims)

    def expand(self, batch_shape: Shape) -> Independent:
        events = self.event_shape[: self.reinterpreted_batch_ndims]
        base = self.base_dist.expand(Size((*batch_shape, *events)))
        return Independent(base, self.reinterpreted_batch_ndims, self._validate_args)

    def __repr__(self) -> str:
        return f"Independent({self.base_dist}, {self.reinterpreted_batch_ndims})"


def sum_rightmost(value: Tensor, count: int) -> Tensor:
    """``value`` summed over its last ``count`` dimensions."""
    return value.sum(tuple(range(-count, 0))) if count else value
