"""The base class of all distributions, and Independent, which groups those of a batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from autograd_core.autograd.grad_mode import enable_grad, no_grad
from autograd_core.distributions.constraints import Constraint, independent
from autograd_core.functions import as_tensor, broadcast_tensors
from autograd_core.tensor import Tensor
from autograd_core.tensor.size import Size

Shape = Sequence[int]


class Distribution:
    """A random tensor: a batch of ``batch_shape`` independent distributions of events of
    ``event_shape``.

    Args:
        batch_shape: the shape of the parameters, without the dimensions of one event.
        event_shape: the shape of one event.
        validate_args: whether parameters and samples are validated, which takes time; None for the
            default, see :meth:`set_default_validate_args`.

    Raises:
        ValueError: a parameter has an invalid value; the message is PyTorch's.
    """

    has_rsample: ClassVar[bool] = False
    has_enumerate_support: ClassVar[bool] = False
    arg_constraints: ClassVar[Mapping[str, Constraint]]
    support: Any  # a Constraint, or a property that gives one
    _validate_args: bool = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether new distributions validate their arguments by default."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self, batch_shape: Shape = (), event_shape: Shape = (), validate_args: bool | None = None
    ) -> None:
        self._batch_shape, self._event_shape = Size(batch_shape), Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self.arg_constraints.items():
                if name in self.__dict__:
                    self._check_parameter(name, constraint)

    @property
    def batch_shape(self) -> Size:
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        return self._event_shape

    @property
    def mean(self) -> Tensor:
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        return self.variance.sqrt()

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        """Draw a sample of shape ``sample_shape + batch_shape + event_shape``, with no gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        """Draw a reparameterized sample, which has a gradient with respect to the parameters."""
        raise NotImplementedError

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the log of the probability density or mass at ``value``."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """Return the cumulative distribution function at ``value``."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """Return the inverse of :meth:`cdf` at ``value``."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all values of a distribution with finite support."""
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy of each distribution of the batch, in nats."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """Return the perplexity: the exponential of :meth:`entropy`."""
        return self.entropy().exp()

    def expand(self, batch_shape: Shape) -> Any:
        """Return the distribution with its batch dimensions expanded to ``batch_shape``."""
        new = type(self).__new__(type(self))
        for name in self.arg_constraints.keys() & self.__dict__.keys():
            value = self.__dict__[name]
            own = value._shape[len(self._batch_shape) :]
            new.__dict__[name] = value.expand(*batch_shape, *own)
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def _extended_shape(self, sample_shape: Shape = ()) -> Size:
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _check_parameter(self, name: str, constraint: Constraint) -> None:
        value = self.__dict__[name]
        if constraint.check(value).all():
            return
        raise ValueError(
            f"Expected parameter {name} ({_kind(value)}) of distribution {self!r} to satisfy the "
            f"constraint {constraint!r}, but found invalid values:\n{value}"
        )

    def _validate_sample(self, value: Any) -> None:
        """Raise ValueError unless ``value`` may be a sample; silent if nothing is validated."""
        if not self._validate_args:
            return
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = value.dim() - len(self._event_shape)
        if Size(value._shape[events:]) != self._event_shape:
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.size()} vs {self._event_shape}."
            )
        expected = self._extended_shape()
        for i, j in zip(reversed(value.size()), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.size()} vs {expected}."
                )
        support = self.support
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({_kind(value)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def __repr__(self) -> str:
        known = [name for name in self.arg_constraints if name in self.__dict__]
        values = [(name, self.__dict__[name]) for name in known]
        shown = (f"{name}: {v if v.numel() == 1 else v.size()}" for name, v in values)
        return f"{type(self).__name__}({', '.join(shown)})"


class Independent(Distribution):
    """``base_distribution`` with its last ``reinterpreted_batch_ndims`` batch dimensions as event
    dimensions: log-probabilities are summed over them.

    Raises:
        ValueError: ``base_distribution`` has fewer batch dimensions.
    """

    arg_constraints: ClassVar[dict[str, Constraint]] = {}

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
    def support(self) -> Constraint:
        own = self.base_dist.support
        count = self.reinterpreted_batch_ndims
        return independent(own, count) if count else own

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


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Broadcast tensors and numbers to a common shape; numbers take the dtype of the tensors."""
    like = next((v for v in values if isinstance(v, Tensor)), None)
    dtype = None if like is None or not like.is_floating_point() else like.dtype
    tensors = [
        v if isinstance(v, Tensor) else as_tensor(float(v), dtype=dtype)  # also of an integer
        for v in values
    ]
    return tuple(broadcast_tensors(*tensors))


def sum_rightmost(value: Tensor, count: int) -> Tensor:
    """Sum ``value`` over its last ``count`` dimensions."""
    return value.sum(tuple(range(-count, 0))) if count else value


def derived(compute: Callable[[Any], Tensor]) -> Any:
    """Return a parameter that is computed from another one on first use, always with a graph."""

    def in_graph(self: Any) -> Tensor:
        with enable_grad():
            return compute(self)

    in_graph.__doc__ = compute.__doc__
    return cached_property(in_graph)


def _kind(value: Tensor) -> str:
    return f"{type(value).__name__} of shape {tuple(value.shape)}"
