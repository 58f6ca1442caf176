"""What becomes of a random tensor that is sent through functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.distributions.constraints import Constraint
from autograd_core.distributions.distribution import Distribution, Shape
from autograd_core.distributions.independent import Independent, sum_rightmost
from autograd_core.distributions.transforms import ComposeTransform, Transform
from autograd_core.tensor import Tensor


class TransformedDistribution(Distribution):
    """A sample of ``base_distribution`` after all of ``transforms``.

    >>> from autograd_core import tensor
    >>> from autograd_core.distributions import Normal, TanhTransform
    >>> TransformedDistribution(Normal(0.0, 1.0), TanhTransform()).log_prob(tensor(0.5))
    tensor(-0.7821)
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}

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
        dims, total = len(self.event_shape), None
        for transform in reversed(self.transforms):
            before = transform.invert(value)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            stretch = transform.log_abs_det_jacobian(before, value)
            stretch = sum_rightmost(stretch, dims - transform.domain.event_dim)
            total = -stretch if total is None else total - stretch
            value = before
        own = self.base_dist.log_prob(value)
        own = sum_rightmost(own, dims - len(self.base_dist.event_shape))
        return own if total is None else total + own

    def cdf(self, value: Tensor) -> Tensor:
        for transform in reversed(self.transforms):
            value = transform.invert(value)
        return self._turned(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._transformed(self.base_dist.icdf(self._turned(value)))

    def _turned(self, part: Tensor) -> Tensor:
        """The part below, where the transforms turn the order of numbers round: that above."""
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
