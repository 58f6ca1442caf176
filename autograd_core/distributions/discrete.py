"""Distributions over finitely many values: Bernoulli and Categorical."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.distributions import constraints
from autograd_core.distributions.distribution import Distribution, Shape, broadcast_all, derived
from autograd_core.functions import (
    arange,
    bernoulli,
    broadcast_tensors,
    full,
    full_like,
    multinomial,
    where,
)
from autograd_core.nn import functional as F
from autograd_core.tensor import Tensor
from autograd_core.tensor.numeric import finfo, nan


class _Discrete(Distribution):
    """A distribution given by either ``probs`` or ``logits``; the other is derived from it."""

    has_enumerate_support = True

    @staticmethod
    def _given(probs: Any, logits: Any) -> tuple[str, Any]:
        """Return the name and the value of the one that is not None."""
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        return ("logits", logits) if probs is None else ("probs", probs)

    @property
    def param_shape(self) -> Any:
        return self.__dict__["probs" if "probs" in self.__dict__ else "logits"].size()


def _clamped(probs: Tensor) -> Tensor:
    """Return ``probs`` a little away from 0 and 1, where logarithms are finite."""
    eps = finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


class Bernoulli(_Discrete):
    """1 with probability ``probs``, else 0; ``logits`` are the log-odds of 1."""

    arg_constraints: ClassVar = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        name, given = self._given(probs, logits)
        (self.__dict__[name],) = broadcast_all(given)
        super().__init__(self.param_shape, (), validate_args)

    @derived
    def logits(self) -> Tensor:
        probs = _clamped(self.probs)
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


class Categorical(_Discrete):
    """A class index, drawn with the unnormalized probabilities ``probs``, or their logarithms
    ``logits``, along the last dimension."""

    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        name, given = self._given(probs, logits)
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        self.__dict__[name] = (
            given / given.sum(-1, keepdim=True)
            if logits is None
            else given - given.logsumexp(-1, keepdim=True)
        )
        super().__init__(given._shape[:-1], (), validate_args)

    @derived
    def logits(self) -> Tensor:
        return _clamped(self.probs).log()

    @derived
    def probs(self) -> Tensor:
        return F.softmax(self.logits, dim=-1)

    @property
    def _num_events(self) -> int:
        return int(self.param_shape[-1])

    @property
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return full(self._extended_shape(), nan, dtype=self.probs.dtype)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(-1)

    @property
    def variance(self) -> Tensor:
        return self.mean

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            rows = self.probs.reshape(-1, self._num_events)
            drawn = multinomial(rows, math.prod(sample_shape), True).T
            return drawn.reshape(*sample_shape, *self.batch_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        index, logits = broadcast_tensors(value.long().unsqueeze(-1), self.logits)
        return logits.gather(-1, index[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)  # 0 times -inf is 0 here
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = arange(self._num_events).view(-1, *[1] * len(self.batch_shape))
        return values.expand(-1, *self.batch_shape) if expand else values
