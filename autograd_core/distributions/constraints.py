"""Constraints: the values that a parameter or a sample may have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_core.tensor import Tensor


class Constraint:
    """A set of values; ``check`` tests which values belong to it.

    ``event_dim`` is the number of rightmost dimensions that form one value.
    """

    is_discrete = False
    event_dim = 0

    def check(self, value: Tensor) -> Tensor:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__.removeprefix('_')}()"


class _Test(Constraint):
    """A constraint given by a function that says which values belong."""

    def __init__(
        self,
        name: str,
        test: Callable[[Tensor], Any],
        event_dim: int = 0,
        is_discrete: bool = False,
    ) -> None:
        self._name, self._test = name, test
        self.event_dim, self.is_discrete = event_dim, is_discrete

    def check(self, value: Tensor) -> Tensor:
        is_inside: Tensor = self._test(value)
        return is_inside

    def __repr__(self) -> str:
        return self._name


class independent(Constraint):  # lower case, as PyTorch spells it
    """``base_constraint``, which must hold over all of the rightmost ``reinterpreted_batch_ndims``
    dimensions."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim + reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        is_inside = self.base_constraint.check(value)
        for _ in range(self.reinterpreted_batch_ndims):
            is_inside = is_inside.all(-1)
        return is_inside

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """``base_constraint``, which must hold for every component of a mixture."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint
        self.is_discrete = base_constraint.is_discrete
        self.event_dim = base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        is_inside = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        kept = is_inside._shape[: value.dim() - self.event_dim]
        return is_inside.reshape(*kept, -1).all(-1)

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


def _shown(bound: Any) -> str:
    return repr(bound) if isinstance(bound, Tensor) else str(bound)


def interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Return the numbers between two bounds, inclusive."""
    return _Test(
        f"Interval(lower_bound={_shown(lower_bound)}, upper_bound={_shown(upper_bound)})",
        lambda x: (lower_bound <= x) & (x <= upper_bound),
    )


def greater_than(lower_bound: Any) -> Constraint:
    """Return the numbers greater than the bound."""
    return _Test(f"GreaterThan(lower_bound={_shown(lower_bound)})", lambda x: lower_bound < x)


def integer_interval(lower_bound: Any, upper_bound: Any) -> Constraint:
    """Return the integers between two bounds, inclusive."""
    return _Test(
        f"IntegerInterval(lower_bound={_shown(lower_bound)}, upper_bound={_shown(upper_bound)})",
        lambda x: (x % 1 == 0) & (lower_bound <= x) & (x <= upper_bound),
        is_discrete=True,
    )


boolean = _Test("Boolean()", lambda x: (x == 0) | (x == 1), is_discrete=True)
positive = greater_than(0.0)
real = _Test("Real()", lambda x: x == x)
real_vector = independent(real, 1)
simplex = _Test("Simplex()", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), 1)
unit_interval = interval(0.0, 1.0)
