"""Distributions of counts."""

from __future__ import annotations

from typing import Any, ClassVar

from autograd_core.autograd.grad_mode import no_grad
from autograd_core.distributions import constraints
from autograd_core.distributions.categorical import Categorical
from autograd_core.distributions.distribution import Distribution, Shape, broadcast_all
from autograd_core.distributions.trials import OfTrials
from autograd_core.functions import arange, as_tensor, generator, poisson
from autograd_core.nn import functional as F
from autograd_core.numeric import finfo
from autograd_core.tensor import Tensor


class Poisson(Distribution):
    """How often something happens that happens ``rate`` times on average."""

    arg_constraints: ClassVar = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    rate: Tensor

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(self.rate._shape, (), validate_args)

    @property
    def mean(self) -> Tensor:
        return self.rate

    @property
    def mode(self) -> Tensor:
        return self.rate.floor()

    @property
    def variance(self) -> Tensor:
        return self.rate

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            return poisson(self.rate.expand(*self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()


class Geometric(OfTrials):
    """How many trials fail before the first succeeds."""

    support = constraints.nonnegative_integer

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._hold(probs, logits)
        super().__init__(self.param_shape, (), validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            raise ValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape "
                f"{tuple(self.probs.shape)}) of distribution {self!r} to be positive but found "
                f"invalid values:\n{self.probs}"
            )

    @property
    def mean(self) -> Tensor:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        return self.probs.detach() * 0

    @property
    def variance(self) -> Tensor:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            u = self.probs.new_empty(*self._extended_shape(sample_shape)).uniform_()
            u = u.clamp(min=finfo(u.dtype).tiny)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Tensor:
        missing = F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return missing / self.probs


class Binomial(OfTrials):
    """How many of ``total_count`` trials succeed."""

    has_enumerate_support = True
    arg_constraints: ClassVar = {
        "total_count": constraints.nonnegative_integer,
        **OfTrials.arg_constraints,
    }
    total_count: Tensor

    def __init__(
        self,
        total_count: Any = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        (self.total_count,) = self._hold(probs, logits, total_count)
        super().__init__(self.total_count._shape, (), validate_args)

    @property
    def support(self) -> constraints.Constraint:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        with no_grad():
            shape = self._extended_shape(sample_shape)
            count = self.total_count.detach().numpy().astype(int)
            drawn = generator().binomial(count, self.probs.detach().numpy(), tuple(shape))
            return as_tensor(drawn, dtype=self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        n = self.total_count
        ways = (n + 1).lgamma() - (value + 1).lgamma() - (n - value + 1).lgamma()
        return ways + value * self.logits - n * F.softplus(self.logits)

    def entropy(self) -> Tensor:
        values = self.enumerate_support(expand=False)
        logarithms = self.log_prob(values)
        return -(logarithms.exp() * logarithms).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        total = int(self.total_count.max())
        if not self.total_count.min() == total:
            raise NotImplementedError(
                "Inhomogeneous total count not supported by `enumerate_support`."
            )
        values = arange(total + 1, dtype=self.probs.dtype).view(-1, *[1] * len(self.batch_shape))
        return values.expand(-1, *self.batch_shape) if expand else values


class Multinomial(Distribution):
    """How often each class comes up in ``total_count`` draws with the weights ``probs``, or with
    their logarithms ``logits``, along the last dimension."""

    arg_constraints: ClassVar = Categorical.arg_constraints

    def __init__(
        self,
        total_count: int = 1,
        probs: Any = None,
        logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(shape[:-1], shape[-1:], validate_args)

    def expand(self, batch_shape: Shape) -> Any:
        new = super().expand(batch_shape)
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(batch_shape)
        return new

    @property
    def support(self) -> constraints.Constraint:
        return constraints.multinomial(self.total_count)

    @property
    def probs(self) -> Tensor:
        found: Tensor = self._categorical.probs
        return found

    @property
    def logits(self) -> Tensor:
        found: Tensor = self._categorical.logits
        return found

    @property
    def param_shape(self) -> Any:
        return self._categorical.param_shape

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        drawn = self._categorical.sample((self.total_count, *sample_shape))
        counts = F.one_hot(drawn, self.event_shape[0]).sum(0)
        return counts.to(self.probs.dtype)

    def log_prob(self, value: Tensor) -> Tensor:
        self._validate_sample(value)
        ways = (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1)
        logits, value = broadcast_all(self.logits, value)
        return ways + (logits.masked_fill((value == 0) & (logits == -float("inf")), 0) * value).sum(
            -1
        )

    def entropy(self) -> Tensor:
        n = as_tensor(self.total_count)
        once: Tensor = self._categorical.entropy()
        each = Binomial(self.total_count, self.probs, validate_args=False)
        values = each.enumerate_support(expand=False)[1:]
        weights = each.log_prob(values).exp()
        return n * once - (n + 1).lgamma() + (weights * (values + 1).lgamma()).sum((0, -1))
