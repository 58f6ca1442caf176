"""The distribution of yes and no."""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.distributions import constraints
from autograd_core.distributions.distribution import Distribution, Shape, broadcast_all, derived
from autograd_core.functions import arange, bernoulli, full_like, where
from autograd_core.nn import functional as F
from autograd_core.numeric import finfo, nan
from autograd_core.tensor import Tensor


def one_of(probs: Any, logits: Any) -> None:
    """Raise ValueError unless exactly one of the two is given."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


def clamped(probs: Tensor) -> Tensor:
    """``probs`` a little away from 0 and 1, where logarithms are finite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


class Bernoulli(Distribution):
    """1 with probability ``probs``, else 0; or with the log-odds ``logits``."""

    has_enumerate_support = True
    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        one_of(probs, logits)
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        (self.__dict__[name],) = broadcast_all(given)
        super().__init__(self.__dict__[name]._shape, (), validate_args)

    @derived
    def logits(self) -> Tensor:
        probs = clamped(self.probs)
        return probs.log() - (-probs).log1p()

    @derived
    def probs(self) -> Tensor:
        return self.logits.sigmoid()

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        likelier = (self.probs >= 0.5).to(self.probs.dtype)
        return where(self.probs == 0.5, full_like(likelier, nan), likelier)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    @property
    def param_shape(self) -> Any:
        return self.__dict__["probs" if "probs" in self.__dict__ else "logits"].size()

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            return bernoulli(self.probs.expand(*self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = arange(2, dtype=self.probs.dtype).view(2, *[1] * len(self.batch_shape))
        return values.expand(2, *self.batch_shape) if expand else values
