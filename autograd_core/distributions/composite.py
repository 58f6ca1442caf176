"""Distributions built from another one: Independent and TransformedDistribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.distributions import constraints
from autograd_core.distributions.distribution import Distribution, Shape, sum_rightmost
from autograd_core.distributions.transforms import ComposeTransform, Transform
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import Size


class Independent(Distribution):
    """``base_distribution`` with its last ``reinterpreted_batch_ndims`` batch dimensions as event
    dimensions: log-probabilities are summed over them.

    Raises:
        ValueError: ``base_distribution`` has fewer batch dimensions.
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


class TransformedDistribution(Distribution):
    """The distribution of a sample of ``base_distribution`` to which ``transforms`` are applied in
    order.

    >>> from autograd_core import tensor
    >>> from autograd_core.distributions import Normal, TanhTransform
    >>> TransformedDistribution(Normal(0.0, 1.0), TanhTransform()).log_prob(tensor(0.5))
    tensor(-0.7821)
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | Sequence[Transform],
        validate_args: bool | None = None,
    ) -> None:
        self.transforms = [transforms] if isinstance(transforms, Transform) else list(transforms)
        both = ComposeTransform(self.transforms)
        shape = tuple(base_distribution.batch_shape + base_distribution.event_shape)
        after, dims = both.forward_shape(shape), len(base_distribution.event_shape)
        before = both.inverse_shape(after)
        if before != shape:
            base_distribution = base_distribution.expand(before[: len(before) - dims])
        if both.domain.event_dim > dims:
            base_distribution = Independent(base_distribution, both.domain.event_dim - dims)
        self.base_dist = base_distribution
        change = both.codomain.event_dim - both.domain.event_dim
        cut = len(after) - max(both.codomain.event_dim, dims + change)
        super().__init__(after[:cut], after[cut:], validate_args)

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        return self.base_dist.has_rsample

    @property
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        return ComposeTransform(self.transforms).codomain

    def expand(self, batch_shape: Shape) -> TransformedDistribution:
        shape = (*batch_shape, *self.event_shape)
        before = ComposeTransform(self.transforms).inverse_shape(shape)
        dims = len(self.base_dist.event_shape)
        base = self.base_dist.expand(before[: len(before) - dims])
        return TransformedDistribution(base, self.transforms, self._validate_args)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            return self._transformed(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        return self._transformed(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        dims = len(self.event_shape)
        total: Any = 0.0
        for transform in reversed(self.transforms):
            before = transform.invert(value)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            stretch = transform.log_abs_det_jacobian(before, value)
            stretch = sum_rightmost(stretch, dims - transform.domain.event_dim)
            total = total - stretch
            value = before
        own = self.base_dist.log_prob(value)
        return total + sum_rightmost(own, dims - len(self.base_dist.event_shape))

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.invert(value)
        return self._counted_from_low_end(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transformed(self.base_dist.icdf(self._counted_from_low_end(value)))

    def _counted_from_low_end(self, part: Tensor) -> Tensor:
        """Return 1 - ``part`` where the transforms reverse the order of numbers, else ``part``."""
        sign = ComposeTransform(self.transforms).sign
        if not isinstance(sign, Tensor) and sign == 1:
            return part
        return sign * (part - 0.5) + 0.5

    def _transformed(self, value: Tensor) -> Tensor:
        for transform in self.transforms:
            value = transform(value)
        return value

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
