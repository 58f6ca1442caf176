"""What a norm tells of a gradient, so that a condition can be ruled out without looking at it.

The logic of conditions has three values: here, what lies between bounds is unknown, too.  A
condition that comes out false is false; any other one is to be asked about the gradient itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite, sqrt
from typing import Any, NamedTuple, NoReturn

from gradstep.debugger.breakpoints.predicate.expression import Expression

_ROUNDING = 0.01
"""How far a norm in single precision may be off, relatively."""
_VANISHED = 1e-18
"""What an element may have been whose square vanishes there."""


class Bounds:
    """A number between two others.

    >>> Bounds(1, 2) < 3, Bounds(1, 2) > 1.5, Bounds(1, 2) == 4
    (True, None, False)
    """

    __slots__ = ("high", "low")
    __hash__ = None  # type: ignore[assignment]  # equality is no relation between objects here

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    def __lt__(self, other: float) -> bool | None:
        return True if self.high < other else False if self.low >= other else None

    def __le__(self, other: float) -> bool | None:
        return True if self.high <= other else False if self.low > other else None

    def __gt__(self, other: float) -> bool | None:
        return _not(self <= other)

    def __ge__(self, other: float) -> bool | None:
        return _not(self < other)

    def __eq__(self, other: object) -> bool | None:  # type: ignore[override]
        if not isinstance(other, int | float):
            return None
        return None if self.low <= other <= self.high else False

    def __ne__(self, other: object) -> bool | None:  # type: ignore[override]
        return _not(self == other)

    def __abs__(self) -> Bounds:
        largest = max(abs(self.low), abs(self.high))
        within = self.low <= 0 <= self.high
        return Bounds(0 if within else min(abs(self.low), abs(self.high)), largest)

    def __mul__(self, factor: float) -> Bounds:
        return Bounds(self.low * factor, self.high * factor)  # by what is not negative

    def __truediv__(self, divisor: float) -> Bounds:
        return Bounds(self.low / divisor, self.high / divisor)

    def __bool__(self) -> NoReturn:
        raise ValueError("it is unknown")


def _not(truth: bool | None) -> bool | None:
    return None if truth is None else not truth


class _Statistics(NamedTuple):
    """As far as they are known, what :class:`~gradstep.graph.statistics.Statistics` has."""

    size: Any
    rms: Bounds
    minimum: Bounds
    maximum: Bounds
    zeros: Bounds
    nans: Any
    infs: Any


_NOTHING = Bounds(-inf, inf)


class BoundedGradient(NamedTuple):
    """A gradient of which the norm is known, in the place of a Value; what else is asked of it
    raises AttributeError."""

    statistics: _Statistics

    @classmethod
    def of(cls, size: int, norm: float | None) -> BoundedGradient:
        """Return a gradient with a norm, None of one that was not measured.

        >>> found = BoundedGradient.of(4, 2.0).statistics
        >>> found.rms < 1.1, found.rms > 1, found.minimum < -3, found.nans
        (True, None, False, 0)
        """
        some = Bounds(0, size)
        if norm is None or not isfinite(norm):
            nans = some if norm is None or norm == norm else Bounds(1, size)
            return cls(_Statistics(size, _NOTHING, _NOTHING, _NOTHING, some, nans, some))
        root = sqrt(size or 1)
        longest = norm * (1 + _ROUNDING) + _VANISHED * root
        rms = Bounds(norm * (1 - _ROUNDING) / root, longest / root) if size else _NOTHING
        extrema = Bounds(-longest, longest) if size else _NOTHING
        zeros = some if norm == 0 else Bounds(0, size - 1)
        return cls(_Statistics(size, rms, extrema, extrema, zeros, 0, 0))

    @classmethod
    def any_of(cls, sizes: Sequence[int], norms: Sequence[float]) -> BoundedGradient:
        """Return one that may be any of several, none of them empty, of which all norms are finite.

        >>> found = BoundedGradient.any_of([1, 4], [3.0, 2.0]).statistics
        >>> found.rms < 2.9, found.zeros > 0, found.zeros > 3
        (None, None, False)
        """
        means = [norm / sqrt(size) for size, norm in zip(sizes, norms, strict=True)]
        size = Bounds(min(sizes), max(sizes))
        rms = Bounds(min(means) * (1 - _ROUNDING), max(means) * (1 + _ROUNDING) + _VANISHED)
        longest = max(norms) * (1 + _ROUNDING) + _VANISHED * sqrt(size.high)
        extrema, zeros = Bounds(-longest, longest), Bounds(0, size.high - (min(norms) > 0))
        return cls(_Statistics(size, rms, extrema, extrema, zeros, 0, 0))


class BoundedSubject(NamedTuple):
    """A gradient of a node that is not known."""

    gradient: Any

    @property
    def ratio(self) -> NoReturn:
        raise LookupError("ratio")

    def fact(self, word: str) -> None:
        """Tell that facts are unknown."""

    def tensor(self, path: str) -> NoReturn:
        """Tell that there are no tensors."""
        raise LookupError(path)


def may_hold(condition: Expression, gradient: Any) -> bool:
    """Return whether ``condition`` may hold of a gradient, or a :class:`BoundedGradient`, of
    whatever node."""
    try:
        return condition.evaluate(BoundedSubject(gradient)) is not False
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return True
