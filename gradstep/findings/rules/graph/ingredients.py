"""What an op was given where its first NaN or infinity is, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gradstep.capturing.forward_values import ForwardValues
from gradstep.contract.op_records import OpRecord, Origin
from gradstep.findings.finding import Reason
from gradstep.graph.statistics import Trouble, first_place, format_element, format_number
from gradstep.text import listed, plural

_LARGEST: Final = {
    "float16": "65,504", "bfloat16": "3.39e38", "float32": "3.4e38", "float64": "1.8e308"
}  # fmt: skip
_POLES: Final = ("atanh", "erfinv", "logit", "log1p", "ctc_loss")
"""Ops that are infinite elsewhere than at 0."""
_AT_ZERO: Final = ("pow", "div", "reciprocal", "rsqrt", "log", "log2", "log10")
_ADDING_UP: Final = (
    "mm", "addmm", "bmm", "baddbmm", "addbmm", "mv", "addmv", "addr", "dot", "vdot", "matmul",
    "linear", "linalg", "einsum", "conv", "sum", "mean", "prod", "cum", "var", "std", "norm",
    "mse", "smooth", "huber", "l1", "kl", "binary", "cross", "nll", "batch", "layer", "rms",
    "group", "scaled_dot",
)  # fmt: skip
"""How the names of ops begin that add or multiply many numbers, which may overflow."""
_SPREADS: Final = ("std", "var", "std_mean", "var_mean")
_BY_CLASS: Final = ("nll_loss", "cross_entropy")
_MINUS_INFINITY: Final = "\N{MINUS SIGN}inf"


@dataclass(frozen=True)
class AtNumbers(Reason):
    """The ``numbers`` that an op was given there; none where they are not known."""

    numbers: tuple[Any, ...] = field(default=(), compare=False)
    is_negative: bool = False

    def text(self) -> str:
        if self.numbers:
            are = "input is" if len(self.numbers) == 1 else "inputs are"
            return f", where its {are} {listed([*map(format_element, self.numbers)])}"
        if self.is_negative:
            return ", where its input is negative"
        return ", although its inputs are finite"


@dataclass(frozen=True)
class TooLarge(AtNumbers):
    """The same, where the result is too large for its dtype."""

    explained_by = ("exploding", "large-steps")
    helps = (
        "its inputs are too large: use a smaller learning rate, clip the gradients, or scale "
        "the data"
    )
    dtype: str = ""

    def text(self) -> str:
        return f"{super().text()} (the largest {self.dtype} is {_LARGEST[self.dtype]})"


@dataclass(frozen=True)
class DividesByZero(Reason):
    """An op divides by 0, whatever its other input is."""

    says = ", where it divides by 0"


@dataclass(frozen=True)
class SpreadOfFew(Reason):
    """A standard deviation is computed from too few elements."""

    size: int = field(compare=False)
    correction: float = field(compare=False)

    def text(self) -> str:
        number = plural(self.size, "element")
        return (
            f", because it is computed from {number}, and divides by {self.size} − "
            f"{self.correction}"
        )


@dataclass(frozen=True)
class NoAlignment(Reason):
    """A target is too long for a CTC loss."""

    says = ", because no alignment fits: that target is too long for its input"


class NothingToAverage(Reason):
    """A mean of nothing."""


@dataclass(frozen=True)
class NoElements(NothingToAverage):
    """There is nothing to take the mean of."""

    helps = "leave this term out where there is nothing to compute it from"
    says = ", because its input has no elements"


@dataclass(frozen=True)
class AllIgnored(NothingToAverage):
    """All targets are those that a loss leaves out."""

    helps = "leave such batches out: a mean over no target is 0 / 0"
    targets: int = field(compare=False)
    ignored: float = field(compare=False)

    def text(self) -> str:
        targets = plural(self.targets, "target")
        number = format_number(self.ignored)
        return f", because all {targets} are ignore_index ({number}): a mean of none"


@dataclass(frozen=True)
class NoWeight(NothingToAverage):
    """All targets have the weight 0."""

    helps = "give these classes a weight above 0, or leave such batches out"
    says = ", because the classes of all its targets have the weight 0"


@dataclass(frozen=True)
class InRow(Reason):
    """Where the first element is of what an op does along one dimension: the row, "" of a vector,
    its ``size``, and how many of what is not finite are there."""

    row: str = field(compare=False)
    size: int = field(compare=False)
    counts: tuple[tuple[int, str], ...] = field(compare=False)

    def text(self) -> str:
        counts = [
            f"{'all' if count == self.size else f'{count} of its'} {self.size} inputs are {what}"
            for count, what in self.counts
        ]
        where = f", in row {self.row}" if self.row else ""
        return f"{where}, where {' and '.join(counts)}"

    @property
    def is_masked(self) -> bool:
        """Whether all of it is minus infinity."""
        return self.counts == ((self.size, _MINUS_INFINITY),)


def of_finite_inputs(values: ForwardValues, origin: Origin, trouble: Trouble) -> Reason:
    """Describe the inputs of an op that made ``trouble`` of finite numbers."""
    record = origin[0]
    if not isinstance(record, OpRecord):
        return AtNumbers()
    there = numbers_there(values, origin, trouble)
    if not there and (reason := _reason(values, record, origin[1])):
        return reason
    numbers, negative = tuple(there), of_negative(record, trouble)
    if trouble == "inf" and _overflows(record, there):
        return TooLarge(numbers, negative, record.dtype)
    return AtNumbers(numbers, negative)


def of_negative(record: OpRecord, trouble: Trouble) -> bool:
    """Return whether an op has made NaN of a finite number, as it does of a negative one only."""
    return trouble == "nan" and record.name in ("sqrt", "rsqrt", "log", "log2", "log10")


def divides_by_zero(values: ForwardValues, origin: Origin, trouble: Trouble) -> bool:
    """Return whether an op divides by 0 at its first NaN or infinity: that is a cause, whatever its
    other input is, known or not."""
    record, result = origin[0], values.array(origin)
    if isinstance(record, OpRecord) and divides_by_none(record, origin[1]):
        return True
    if not isinstance(record, OpRecord) or result is None:
        return False
    if record.name in ("reciprocal", "rsqrt"):
        return trouble == "inf"  # they make that of 0 alone
    if record.name != "div" or len(record.inputs) < 2:
        return False
    by = record.inputs[1]
    divisor = values.array(by) if isinstance(by, tuple) else np.asarray(by)
    if divisor is None or not _spreads(divisor.shape, result.shape):
        return False
    return not np.broadcast_to(divisor, result.shape)[first_place(result, trouble)]


def _overflows(record: OpRecord, there: list[Any]) -> bool:
    """Return whether the result is too large, rather than infinite at this point."""
    exponents = [*record.inputs[1:2], record.attributes.get("exponent")]
    if record.name == "pow" and any(isinstance(n, int | float) and n > 0 for n in exponents):
        return record.dtype in _LARGEST
    if not there and not record.pointwise and not record.name.startswith(_ADDING_UP):
        return False  # as a Function of the program's own
    at_pole = record.name in _POLES or any(float(number) == 0 for number in there)
    if record.name in _AT_ZERO and not there:
        return False  # it is not known what they were given
    return record.dtype in _LARGEST and not at_pole


def numbers_there(values: ForwardValues, origin: Origin, trouble: Trouble) -> list[Any]:
    """Return what an op that works element by element is given at its first NaN or infinity."""
    record, result = origin[0], values.array(origin)
    if not isinstance(record, OpRecord) or not record.pointwise or result is None:
        return []
    place, numbers = first_place(result, trouble), []
    for value in record.inputs:
        array = values.array(value) if isinstance(value, tuple) else np.asarray(value)
        if array is None or not _spreads(array.shape, result.shape):
            return []
        numbers.append(np.broadcast_to(array, result.shape)[place])
    return numbers


def _reason(values: ForwardValues, record: OpRecord, nr: int) -> Reason | None:
    """Return what is known of ops that divide by how much they are given."""
    if divides_by_none(record, nr):
        return SpreadOfFew(*_spread_of(record, nr))
    if record.name == "ctc_loss":
        return NoAlignment()
    known = [values.statistics(item) if isinstance(item, tuple) else None for item in record.inputs]
    first = known[0] if known else None
    if first is None:
        return None
    if not first.size:
        return NoElements()
    return _of_targets(values, record) if record.name.startswith(_BY_CLASS) else None


def divides_by_none(record: OpRecord, nr: int) -> bool:
    """Return whether an op is a standard deviation, or a variance, of too few elements."""
    count, correction = _spread_of(record, nr)
    return record.name in _SPREADS and 0 < count <= correction


def _spread_of(record: OpRecord, nr: int) -> tuple[int, float]:
    """Return of how many elements each result is, and what is taken from that number."""
    first = record.inputs[0] if record.inputs else None
    size = math.prod(record.shapes[nr]) if nr < len(record.shapes) else 0
    if not isinstance(first, tuple) or not size:
        return 0, 1
    given = first[0]
    shape = given.shapes[first[1]] if isinstance(given, OpRecord) else given.shape
    return math.prod(shape) // size, record.attributes.get("correction", 1)


def _of_targets(values: ForwardValues, record: OpRecord) -> Reason | None:
    """Return why there is nothing to take the mean of."""
    _, target, weight, *_ = (
        *(values.array(value) if isinstance(value, tuple) else None for value in record.inputs),
        None, None,
    )  # fmt: skip
    if target is None or target.dtype.kind not in "iu":
        return None
    ignored = record.attributes.get("ignore_index", -100)
    used = target[target != ignored]
    if not used.size:
        return AllIgnored(target.size, ignored)
    return NoWeight() if weight is not None and not weight[used].any() else None


def along_a_dimension(values: ForwardValues, origin: Origin, trouble: Trouble) -> InRow | None:
    """Return what an op that works along one dimension, as a softmax does, is given there where its
    first NaN or infinity is; None where that is not known."""
    record, result = origin[0], values.array(origin)
    if not isinstance(record, OpRecord) or result is None or not record.inputs:
        return None
    dim, first = record.attributes.get("dim"), record.inputs[0]
    given = values.array(first) if isinstance(first, tuple) else None
    if not isinstance(dim, int) or given is None or given.shape != result.shape:
        return None
    place: list[Any] = list(first_place(result, trouble))
    if not place:
        return None
    place[dim] = slice(None)
    row = given[tuple(place)]
    place[dim] = ":"
    where = f"[{', '.join(map(str, place))}]" if len(place) > 1 else ""
    counts = tuple(_counts(row))
    return InRow(where, row.size, counts) if counts else None


def _counts(row: NDArray[Any]) -> Iterator[tuple[int, str]]:
    for count, what in (
        (np.isnan(row).sum(), "nan"),
        (np.isneginf(row).sum(), _MINUS_INFINITY),
        (np.isposinf(row).sum(), "inf"),
    ):
        if count:
            yield int(count), what


def _spreads(shape: tuple[int, ...], over: tuple[int, ...]) -> bool:
    """Return whether a value of ``shape`` broadcasts to another one."""
    return len(shape) <= len(over) and all(
        mine in (1, theirs) for mine, theirs in zip(reversed(shape), reversed(over), strict=False)
    )
