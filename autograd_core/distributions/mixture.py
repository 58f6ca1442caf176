"""Mixtures: one of several distributions of a kind, chosen at random."""

from __future__ import annotations

from typing import ClassVar

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.distributions.constraints import Constraint, MixtureSameFamilyConstraint
from autograd_core.distributions.discrete import Categorical
from autograd_core.distributions.distribution import Distribution, Shape
from autograd_core.functions import logsumexp, take_along_dim
from autograd_core.nn import functional as F
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import Size


class MixtureSameFamily(Distribution):
    """One of the distributions along the last batch dimension of ``component_distribution``, chosen
    by ``mixture_distribution``.

    Raises:
        ValueError: the latter is not Categorical, or their shapes do not fit; in PyTorch's words.
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}

    def __init__(
        self,
        mixture_distribution: Categorical,
        component_distribution: Distribution,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of "
                "torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an instance of "
                "torch.distributions.Distribution"
            )
        own = mixture_distribution.batch_shape
        batch, count = component_distribution.batch_shape[:-1], mixture_distribution._num_events
        pairs = zip(reversed(own), reversed(batch), strict=False)
        if any(n != m and 1 not in (n, m) for n, m in pairs):
            raise ValueError(
                f"`mixture_distribution.batch_shape` ({own}) is not compatible with "
                f"`component_distribution.batch_shape`({batch})"
            )
        if count != (components := component_distribution.batch_shape[-1]):
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({components})"
            )
        self.mixture_distribution = mixture_distribution
        self.component_distribution = component_distribution
        super().__init__(batch, component_distribution.event_shape, validate_args)

    @property
    def support(self) -> Constraint:
        return MixtureSameFamilyConstraint(self.component_distribution.support)

    @property
    def mean(self) -> Tensor:
        return self._mixed(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        apart = self.component_distribution.mean - self._pad(self.mean)
        return self._mixed(self.component_distribution.variance) + self._mixed(apart.pow(2.0))

    def cdf(self, value: Tensor) -> Tensor:
        shares = self.mixture_distribution.probs
        return (self.component_distribution.cdf(self._pad(value)) * shares).sum(-1)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        density = self.component_distribution.log_prob(self._pad(value))
        return logsumexp(density + F.log_softmax(self.mixture_distribution.logits, dim=-1), -1)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            chosen = self.mixture_distribution.expand(self.batch_shape).sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            dim = chosen.dim()
            place = chosen.reshape(*chosen.shape, *[1] * (len(self.event_shape) + 1))
            return take_along_dim(drawn, place, dim).squeeze(dim)

    def expand(self, batch_shape: Shape) -> MixtureSameFamily:
        components = self.component_distribution.batch_shape[-1:]
        return MixtureSameFamily(
            self.mixture_distribution.expand(batch_shape),
            self.component_distribution.expand(Size((*batch_shape, *components))),
            self._validate_args,
        )

    def _pad(self, value: Tensor) -> Tensor:
        """Return ``value`` with a dimension for the components."""
        return value.unsqueeze(-1 - len(self.event_shape))

    def _mixed(self, value: Tensor) -> Tensor:
        """Return the mean of what the components have."""
        probs, events = self.mixture_distribution.probs, len(self.event_shape)
        return (probs.reshape(*probs.shape, *[1] * events) * value).sum(-1 - events)

    def __repr__(self) -> str:
        parts = f"{self.mixture_distribution},\n  {self.component_distribution}"
        return f"MixtureSameFamily(\n  {parts})"
