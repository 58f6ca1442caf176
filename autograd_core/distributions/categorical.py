"""Distributions of one of several classes."""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.distributions import constraints
from autograd_core.distributions.distribution import Distribution, Shape, derived
from autograd_core.distributions.trials import clamped, one_of
from autograd_core.functions import arange, eye, full, multinomial, zeros_like
from autograd_core.nn import functional as F
from autograd_core.numeric import finfo, nan
from autograd_core.tensor import Tensor


class Categorical(Distribution):
    """The number of a class, drawn with the weights ``probs``, or with their logarithms
    ``logits``, along the last dimension; neither need add up to anything."""

    has_enumerate_support = True
    arg_constraints: ClassVar = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        one_of(probs, logits)
        name, given = ("logits", logits) if probs is None else ("probs", probs)
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        self.__dict__[name] = (
            given / given.sum(-1, keepdim=True)
            if logits is None
            else given - given.logsumexp(-1, keepdim=True)
        )
        self._set_shape(given, validate_args)

    def _set_shape(self, given: Tensor, validate_args: bool | None) -> None:
        Distribution.__init__(self, given._shape[:-1], (), validate_args)

    @derived
    def logits(self) -> Tensor:
        return clamped(self.probs).log()

    @derived
    def probs(self) -> Tensor:
        return F.softmax(self.logits, dim=-1)

    @property
    def param_shape(self) -> Any:
        return self.__dict__["probs" if "probs" in self.__dict__ else "logits"].size()

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
            count = 1
            for size in sample_shape:
                count *= size
            rows = self.probs.reshape(-1, self._num_events)
            drawn = multinomial(rows, count, True).T
            return drawn.reshape(*sample_shape, *self.batch_shape)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        shape = (self.logits[..., :1] + value)._shape[:-1]
        logits = self.logits.expand(*shape, self._num_events)
        return logits.gather(-1, value.expand(*shape, 1)).squeeze(-1)

    def entropy(self) -> Tensor:
        logits = self.logits.clamp(min=finfo(self.logits.dtype).min)  # 0 times -inf is 0 here
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = arange(self._num_events).view(-1, *[1] * len(self.batch_shape))
        return values.expand(-1, *self.batch_shape) if expand else values


class OneHotCategorical(Categorical):
    """As :class:`Categorical`; the class is marked by a 1 among zeros."""

    support = constraints.one_hot

    def _set_shape(self, given: Tensor, validate_args: bool | None) -> None:
        Distribution.__init__(self, given._shape[:-1], given._shape[-1:], validate_args)

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return F.one_hot(self.probs.argmax(-1), self._num_events).to(self.probs.dtype)

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        drawn = super().sample(sample_shape)
        return F.one_hot(drawn, self._num_events).to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        shape = (self.logits + zeros_like(value))._shape
        picked = self.logits.expand(*shape).gather(
            -1, value.argmax(-1, True).expand(*shape[:-1], 1)
        )
        return picked.squeeze(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n = self._num_events
        values = eye(n, dtype=self.probs.dtype).view(n, *[1] * len(self.batch_shape), n)
        return values.expand(n, *self.batch_shape, n) if expand else values

    def __repr__(self) -> str:
        return "OneHotCategorical()"
