"""What an op was given where its first NaN or infinity is, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gradstep.capturing.forward_values import ForwardValues
from gradstep.contract.op_records import OpRecord, Origin
from gradstep.graph.statistics import Trouble, first_place, format_element, format_number
from gradstep.text import listed, plural

_LARGEST: Final = {
    "float16": "65,504", "bfloat16": "3.39e38", "float32": "3.4e38", "float64": "1.8e308"
}  # fmt: skip
_POLES: Final = ("atanh", "erfinv", "logit", "log1p", "ctc_loss")
"""Ops that are infinite elsewhere than at 0."""
_AT_ZERO: Final = ("pow", "div", "reciprocal", "rsqrt", "log", "log2", "log10")
_SPREADS: Final = ("std", "var", "std_mean", "var_mean")
_BY_CLASS: Final = ("nll_loss", "cross_entropy")


def of_finite_inputs(values: ForwardValues, origin: Origin, trouble: Trouble) -> str:
    """Describe the inputs of an op that made ``trouble`` of finite numbers."""
    record = origin[0]
    if not isinstance(record, OpRecord):
        return ", although its inputs are finite"
    there = numbers_there(values, origin, trouble)
    if not there and (reason := _reason(values, record, origin[1])):
        return f", because {reason}"
    text = _numbers(there) if there else ", although its inputs are finite"
    if not there and of_negative(record, trouble):
        text = ", where its input is negative"
    if trouble == "inf" and _overflows(record, there):
        text = f"{text} (the largest {record.dtype} is {_LARGEST[record.dtype]})"
    return text


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
    at_pole = record.name in _POLES or any(float(number) == 0 for number in there)
    if record.name in _AT_ZERO and not there:
        return False  # it is not known what they were given
    return record.dtype in _LARGEST and not at_pole


def _numbers(there: list[Any]) -> str:
    are = "input is" if len(there) == 1 else "inputs are"
    return f", where its {are} {listed([format_element(number) for number in there])}"


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


def _reason(values: ForwardValues, record: OpRecord, nr: int) -> str:
    """Say what is known of ops that divide by how much they are given."""
    if divides_by_none(record, nr):
        count, correction = _spread_of(record, nr)
        number = plural(count, "element")
        return f"it is computed from {number}, and divides by {count} − {correction}"
    if record.name == "ctc_loss":
        return "no alignment fits: that target is too long for its input"
    known = [values.statistics(item) if isinstance(item, tuple) else None for item in record.inputs]
    first = known[0] if known else None
    if first is None:
        return ""
    if not first.size:
        return "its input has no elements"
    if record.name.startswith(_BY_CLASS):
        return _of_targets(values, record)
    return ""


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


def _of_targets(values: ForwardValues, record: OpRecord) -> str:
    """Say why there is nothing to take the mean of."""
    _, target, weight, *_ = (
        *(values.array(value) if isinstance(value, tuple) else None for value in record.inputs),
        None, None,
    )  # fmt: skip
    if target is None or target.dtype.kind not in "iu":
        return ""
    ignored = record.attributes.get("ignore_index", -100)
    used = target[target != ignored]
    if not used.size:
        targets = plural(target.size, "target")
        return f"all {targets} are ignore_index ({format_number(ignored)}): a mean of none"
    if weight is not None and not weight[used].any():
        return "the classes of all its targets have the weight 0"
    return ""


def along_a_dimension(values: ForwardValues, origin: Origin, trouble: Trouble) -> str:
    """Describe what an op that works along one dimension, as a softmax does, is given there where
    its first NaN or infinity is."""
    record, result = origin[0], values.array(origin)
    if not isinstance(record, OpRecord) or result is None or not record.inputs:
        return ""
    dim, first = record.attributes.get("dim"), record.inputs[0]
    given = values.array(first) if isinstance(first, tuple) else None
    if not isinstance(dim, int) or given is None or given.shape != result.shape:
        return ""
    place: list[Any] = list(first_place(result, trouble))
    if not place:
        return ""
    place[dim] = slice(None)
    row = given[tuple(place)]
    place[dim] = ":"
    counts = list(_counts(row))
    where = ", ".join(map(str, place))
    row_text = f", in row [{where}]" if len(place) > 1 else ""
    return f"{row_text}, where {' and '.join(counts)}" if counts else ""


def is_masked(there: str) -> bool:
    """Return whether :func:`along_a_dimension` said that a row is minus infinity everywhere."""
    return there.endswith("inputs are \N{MINUS SIGN}inf") and "all" in there


def _counts(row: NDArray[Any]) -> Iterator[str]:
    for count, word in (
        (np.isnan(row).sum(), "nan"),
        (np.isneginf(row).sum(), "\N{MINUS SIGN}inf"),
        (np.isposinf(row).sum(), "inf"),
    ):
        if count:
            some = "all" if count == row.size else f"{count} of its"
            yield f"{some} {row.size} inputs are {word}"


def _spreads(shape: tuple[int, ...], over: tuple[int, ...]) -> bool:
    """Return whether a value of ``shape`` broadcasts to another one."""
    return len(shape) <= len(over) and all(
        mine in (1, theirs) for mine, theirs in zip(reversed(shape), reversed(over), strict=False)
    )
