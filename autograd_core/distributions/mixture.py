"""Mixtures of distributions of one kind."""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.distributions import constraints
from autograd_core.distributions.categorical import Categorical
from autograd_core.distributions.distribution import Distribution, Shape
from autograd_core.nn import functional as F
from autograd_core.tensor import Tensor


class MixtureSameFamily(Distribution):
    """One of the distributions along the last batch dimension of ``component_distribution``,
    chosen by ``mixture_distribution``.

    Raises:
        ValueError: the two do not fit.
    """

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {}

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        self._check(mixture_distribution, component_distribution)
        self.mixture_distribution = mixture_distribution
        self.component_distribution = component_distribution
        self._event_dims = len(component_distribution.event_shape)
        batch = component_distribution.batch_shape[:-1]
        super().__init__(batch, component_distribution.event_shape, validate_args)

    @staticmethod
    def _check(mixture: Any, component: Any) -> None:
        if not isinstance(mixture, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of "
                "torch.distributions.Categorical"
            )
        if not isinstance(component, Distribution):
            raise ValueError(
                "The Component distribution need to be an instance of "
                "torch.distributions.Distribution"
            )
        sizes, given = mixture.batch_shape, component.batch_shape[:-1]
        for one, other in zip(reversed(sizes), reversed(given), strict=False):
            if 1 not in (one, other) and one != other:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({sizes}) is not compatible with "
                    f"`component_distribution.batch_shape`({given})"
                )
        count, classes = component.batch_shape[-1], mixture.param_shape[-1]
        if count != classes:
            raise ValueError(
                f"`mixture_distribution component` ({classes}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({count})"
            )

    @property
    def support(self) -> Any:
        return self.component_distribution.support

    @property
    def mean(self) -> Tensor:
        return (self._weights() * self.component_distribution.mean).sum(self._components)

    @property
    def variance(self) -> Tensor:
        """The mean of the variances, and the variance of the means."""
        weights, means = self._weights(), self.component_distribution.mean
        within = (weights * self.component_distribution.variance).sum(self._components)
        apart = means - self.mean.unsqueeze(self._components)
        return within + (weights * apart.pow(2)).sum(self._components)

    def cdf(self, value: Tensor) -> Tensor:
        parts = self.component_distribution.cdf(value.unsqueeze(self._components))
        return (parts * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        parts = self.component_distribution.log_prob(value.unsqueeze(self._components))
        return (parts + F.log_softmax(self.mixture_distribution.logits, -1)).logsumexp(-1)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            chosen = self.mixture_distribution.sample(sample_shape)
            chosen = chosen.expand(*sample_shape, *self.batch_shape)
            drawn = self.component_distribution.sample(sample_shape)
            where = chosen.reshape(*chosen._shape, 1, *[1] * self._event_dims)
            where = where.expand(*chosen._shape, 1, *self.event_shape)
            return drawn.gather(self._components, where).squeeze(self._components)

    def expand(self, batch_shape: Shape) -> MixtureSameFamily:
        count = self.component_distribution.batch_shape[-1]
        return MixtureSameFamily(
            self.mixture_distribution.expand(batch_shape),
            self.component_distribution.expand((*batch_shape, count)),
            self._validate_args,
        )

    @property
    def _components(self) -> int:
        """The dimension that counts the components."""
        return -1 - self._event_dims

    def _weights(self) -> Tensor:
        probs = self.mixture_distribution.probs
        return probs.reshape(*probs._shape, *[1] * self._event_dims)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
        )
