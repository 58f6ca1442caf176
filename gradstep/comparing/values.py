"""How far two tensors are apart, of which the numbers are known, or only what describes them."""

from __future__ import annotations

import math
import re
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstep.graph.model import Shape
from gradstep.graph.statistics import Statistics, format_number, format_shape

RELATIVE: Final = {"float16": 1e-3, "bfloat16": 1.6e-2, "float64": 1e-7}
"""The largest difference that passes, as a part of the size of a tensor: the ``rtol`` of
``torch.testing.assert_close``."""
_OTHERS: Final = 1.3e-6
_DIGITS: Final = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float64": 2.0**-52}
_ROUNDING: Final = 1e-6
"""Two engines do not add squares in the same order: the size of equal tensors differs so much."""


class Tolerance(NamedTuple):
    """What may differ: ``amount`` is a number of ulps, or a part of the size of a tensor, None for
    that of :data:`RELATIVE`.

    >>> Tolerance.parse("4ulp"), str(Tolerance.parse("1e-5"))
    (Tolerance(kind='ulp', amount=4.0), '1e-05')
    """

    kind: Literal["bitwise", "ulp", "relative"] = "relative"
    amount: float | None = None

    @classmethod
    def parse(cls, text: str) -> Tolerance:
        """Read ``bitwise``, ``4ulp``, ``1e-5``, or ``dtype`` for the default.

        Raises:
            ValueError: it is none of these.
        """
        if text in ("bitwise", "dtype"):
            return cls("bitwise") if text == "bitwise" else cls()
        number = re.fullmatch(r"(.+?) ?(ulps?)?", text)
        amount = float(number[1]) if number else math.nan
        if number is None or not 0 <= amount < math.inf:
            raise ValueError(f"'{text}' is not a tolerance")
        return cls("ulp" if number[2] else "relative", amount)

    def __str__(self) -> str:
        if self.amount is None:
            return "bitwise" if self.kind == "bitwise" else "dtype"
        return f"{self.amount:g}{'ulp' if self.kind == 'ulp' else ''}"


class Value(NamedTuple):
    """A tensor, and what is known of it."""

    statistics: Statistics | None
    shape: Shape | None
    dtype: str
    array: NDArray[np.generic] | None = None


class Side(NamedTuple):
    """One of two tensors that no number can compare: its shape, how many of its elements are NaN
    and how many infinite; or that it is undefined.

    >>> str(Side((2, 3), 1, 2)), str(Side((3,))), str(Side(is_defined=False))
    ('[2, 3] with 1 NaN and 2 infinite', '[3]', 'undefined')
    """

    shape: Shape | None = None
    nans: int = 0
    infs: int = 0
    is_defined: bool = True

    def __str__(self) -> str:
        if not self.is_defined:
            return "undefined"
        counts = ((self.nans, "NaN"), (self.infs, "infinite"))
        kinds = " and ".join(f"{count:,} {kind}" for count, kind in counts if count)
        shape = "" if self.shape is None else format_shape(self.shape)
        return " with ".join(filter(None, (shape, kinds))) or "finite"


class Gap(NamedTuple):
    """How far two tensors are apart.

    Attributes:
        relative: the largest difference of two elements as a part of the size (root mean square) of
            the larger tensor; infinite where only one of them is finite, or defined, or where their
            shapes differ.
        ulps: in units of the last place of the coarser dtype.
        is_same: whether they agree to the bit, as far as that is known.
        is_exact: whether the numbers were compared, not what describes them.
        sides: what either is where ``relative`` is infinite for that reason.
    """

    relative: float
    ulps: float
    is_same: bool
    is_exact: bool
    dtype: str = ""
    sides: tuple[Side, Side] | None = None

    def is_beyond(self, tolerance: Tolerance) -> bool:
        """Return whether the tensors are too far apart."""
        if tolerance.kind == "bitwise":
            return not self.is_same
        if tolerance.kind == "ulp":
            return self.ulps > (tolerance.amount or 0)
        amount = tolerance.amount
        return self.relative > (RELATIVE.get(self.dtype, _OTHERS) if amount is None else amount)

    def __str__(self) -> str:
        if self.is_same:
            return "equal in every bit" if self.is_exact else "equal, as far as it is described"
        if math.isinf(self.relative):
            return "0 on one side" if self.sides is None else " | ".join(map(str, self.sides))
        ulps = f", {format_number(self.ulps)} ulp" if 0 < self.ulps < 1e6 else ""
        return f"{format_number(self.relative)} of its size{ulps if self.is_exact else ''}"


def coarser(one: str, other: str) -> str:
    """Return the dtype that allows more.

    >>> coarser("float32", "bfloat16"), coarser("float64", "float32")
    ('bfloat16', 'float32')
    """
    return max(one, other, key=lambda dtype: RELATIVE.get(dtype, _OTHERS))


def gap(one: Value, other: Value) -> Gap:
    """Return how far two tensors are apart.

    >>> twos, more = np.full(3, 2.0, np.float32), np.array([2, 2, 2.5], np.float32)
    >>> said = [Value(None, (3,), "float32", each) for each in (twos, more)]
    >>> round(gap(*said).relative, 3), gap(said[0], said[0]).is_same
    (0.229, True)
    """
    dtype = coarser(one.dtype, other.dtype)
    if one.array is not None and other.array is not None:
        return _of_arrays(one.array, other.array, dtype, one.dtype == other.dtype)
    if one.shape != other.shape:
        return _unlike(Side(one.shape), Side(other.shape), dtype, True)
    return described_gap(one.statistics, other.statistics, dtype)


def described_gap(one: Statistics | None, other: Statistics | None, dtype: str = "") -> Gap:
    """Return the least that two tensors are apart of which no more is known than what describes
    them; None is undefined."""
    if one is None or other is None:
        return alike(dtype) if one is other else _unlike(_side(one), _side(other), dtype)
    if (one.size, one.nans, one.infs) != (other.size, other.nans, other.infs):
        return _unlike(_side(one), _side(other), dtype)
    size = max(one.rms, other.rms)
    if math.isnan(size):
        return alike(dtype)
    rms = abs(one.rms - other.rms)
    ends = max(abs(one.minimum - other.minimum), abs(one.maximum - other.maximum))
    same = ends == 0 and one.zeros == other.zeros and rms <= _ROUNDING * size
    distance = 0.0 if same else _part(max(rms, ends), size)
    return Gap(distance, distance / _DIGITS.get(dtype, 2.0**-23), same, False, dtype)


def number_gap(one: float, other: float, dtype: str = "") -> Gap:
    """Return how far two numbers are apart, as they were written down."""
    if one == other or (math.isnan(one) and math.isnan(other)):
        return alike(dtype, True)
    if not math.isfinite(one - other):
        sides = [Side(None, math.isnan(each), math.isinf(each)) for each in (one, other)]
        return _unlike(sides[0], sides[1], dtype, True)
    distance = abs(one - other) / max(abs(one), abs(other))
    return Gap(distance, distance / _DIGITS.get(dtype, 2.0**-23), False, True, dtype)


def alike(dtype: str = "", is_exact: bool = False) -> Gap:
    """Return the gap of two tensors that agree to the bit, as far as that is known."""
    return Gap(0.0, 0.0, True, is_exact, dtype)


def _unlike(one: Side, other: Side, dtype: str, is_exact: bool = False) -> Gap:
    return Gap(math.inf, math.inf, False, is_exact, dtype, (one, other))


def _side(known: Statistics | None) -> Side:
    if known is None:
        return Side(is_defined=False)
    return Side(None, known.nans, known.infs)


def _part(distance: float, size: float) -> float:
    return distance / size if size else math.inf if distance else 0.0


def _of_arrays(one: NDArray[Any], other: NDArray[Any], dtype: str, is_same_dtype: bool) -> Gap:
    if one.shape != other.shape:
        return _unlike(Side(one.shape), Side(other.shape), dtype, True)
    if is_same_dtype and one.dtype == other.dtype and one.tobytes() == other.tobytes():
        return alike(dtype, True)
    with np.errstate(all="ignore"):
        kind = np.complex128 if "c" in (one.dtype.kind, other.dtype.kind) else np.float64
        first, second = one.astype(kind), other.astype(kind)
        finite = np.isfinite(first) & np.isfinite(second)
        rest, others = first[~finite], second[~finite]
        if not ((rest == others) | (np.isnan(rest) & np.isnan(others))).all():
            counts = [
                Side(None, int(np.isnan(each).sum()), int(np.isinf(each).sum()))
                for each in (one, other)
            ]
            return _unlike(counts[0], counts[1], dtype, True)
        first, second = first[finite], second[finite]
        if not first.size:
            return Gap(0.0, 0.0, False, True, dtype)
        distances = np.abs(first - second)
        largest = np.maximum(np.abs(first), np.abs(second))
        size = max(math.sqrt(float(np.mean(np.abs(values) ** 2))) for values in (first, second))
        places = np.exp2(np.floor(np.log2(largest))) * _DIGITS.get(dtype, 2.0**-23)
        ulps = np.where(distances > 0, distances / places, 0.0)
    farthest = float(distances.max())
    return Gap(_part(farthest, size), float(ulps.max()), False, True, dtype)
