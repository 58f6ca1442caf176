"""The distribution of yes and no."""

from __future__ import annotations

from typing import Any

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.distributions import constraints
from autograd_core.distributions.distribution import Shape, broadcast_all
from autograd_core.distributions.trials import OfTrials
from autograd_core.functions import arange, bernoulli, full_like, where
from autograd_core.nn import functional as F
from autograd_core.numeric import nan
from autograd_core.tensor import Tensor


class Bernoulli(OfTrials):
    """1 with probability ``probs``, else 0; or with the log-odds ``logits``."""

    has_enumerate_support = True
    support = constraints.boolean

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._hold(probs, logits)
        super().__init__(self.param_shape, (), validate_args)

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
