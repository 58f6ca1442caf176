"""Numbers that describe a tensor, and how they are written down.

Pictures and screens show the same three digits, so the formatting lives here, below both.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradstep.graph.room import PART, room

Trouble = Literal["nan", "inf"]

_MINUS = "\N{MINUS SIGN}"


class Statistics(NamedTuple):
    """A summary of a tensor's elements.

    ``rms`` (root mean square), ``minimum`` and ``maximum`` are taken over the finite
    elements only, and are NaN when there are none; ``nans`` and ``infs`` count the others,
    ``negative_infs`` those of the ``infs`` that are −inf: 0 where nobody knows, as in a recording.
    The extrema of a single number are that number, whatever it is.
    """

    size: int
    rms: float
    minimum: float
    maximum: float
    zeros: int
    nans: int
    infs: int
    negative_infs: int = 0

    @property
    def scalar(self) -> float | None:
        """The value itself when there is only one element, else None."""
        return self.minimum if self.size == 1 else None

    @property
    def trouble(self) -> Trouble | Literal[""]:
        """ "nan", "inf" or "", the worse one first."""
        return "nan" if self.nans else "inf" if self.infs else ""

    @property
    def is_zero(self) -> bool:
        """Whether there are elements, and all are 0."""
        return 0 < self.size == self.zeros

    def amount(self, trouble: Trouble) -> int:
        """Return the number of elements that are NaN, or infinite."""
        return self.nans if trouble == "nan" else self.infs


def statistics(array: NDArray[np.generic] | np.generic) -> Statistics:
    """Describe ``array``; any shape, any real dtype.

    >>> statistics(np.array([3.0, -4.0]))
    Statistics(size=2, rms=3.5355339059327378, minimum=-4.0, maximum=3.0, zeros=0, nans=0, infs=0,
    negative_infs=0)
    """
    if array.size == 1:
        return of_number(float(array.item()))
    if array.size <= FEW and array.dtype.kind in "fiub":
        few = _of_few(array.ravel().tolist())
        if few is not None:
            return few
    return next(statistics_by_parts([array]))


def statistics_by_parts(arrays: Sequence[NDArray[np.generic] | np.generic]) -> Iterator[Statistics]:
    """Yield what :func:`statistics` tells of each of some larger arrays, with room in common."""
    # whatever the program set; memory that nobody has written may hold any NaN, signalling ones too
    with np.errstate(all="ignore"):
        for array in arrays:
            columns = None
            if array.dtype.kind in "fiub" and array.size:
                # in the order in which they lie in memory: a transposed one is not copied
                columns = _of_moderate(array.ravel("K"))
            yield columns or _of_any(np.asarray(array, dtype=np.float64).ravel())


FEW: Final = 16
"""Elements of an array that is soonest described with others, or without NumPy."""
_DOT: Final = 1 << 13
"""Elements whose product OpenBLAS computes in this thread: its others, woken for each part, take
fifty times as long where the processor is busy, and add in another order."""
HUGE, TINY = 1e150, 1e-150
"""Between them, the sum of squares in double precision neither overflows nor vanishes."""


def _of_few(values: list[float]) -> Statistics | None:
    """Describe a few numbers without NumPy, whose calls take ten times as long; None where one of
    them is not finite, or squares are too large or too small to be summed."""
    low, high = min(values, default=math.inf), max(values, default=-math.inf)
    squares = sum([value * value for value in values])
    if not (TINY < squares < HUGE) and (squares or low or high):
        return None
    size = len(values)
    rms = math.sqrt(squares / size)
    return Statistics(size, rms, float(low), float(high), values.count(0), 0, 0)


def _of_moderate(values: NDArray[np.generic]) -> Statistics | None:
    """Describe finite numbers whose squares can be summed, as nearly all are, in a single pass;
    None of others."""
    squares, zeros, minimum, maximum = 0.0, 0, math.inf, -math.inf
    direct = values.dtype in _DIRECT
    for start in range(0, values.size, PART):
        given: NDArray[Any] = values[start : start + PART]
        size = given.size
        part, is_zero = room(size, np.float64), room(size, np.bool_, 1)
        part[:] = given
        if not direct:
            given = part
        low, high = float(np.minimum.reduce(given)), float(np.maximum.reduce(given))
        if not (-HUGE < low <= high < HUGE):
            return None
        minimum, maximum = min(minimum, low), max(maximum, high)
        for at in range(0, size, _DOT):
            few = part[at : at + _DOT]
            squares += float(np.dot(few, few))
        zeros += int(np.count_nonzero(np.equal(given, 0, out=is_zero)))
    if max(-minimum, maximum) < TINY and zeros < values.size:
        return None
    return Statistics(values.size, math.sqrt(squares / values.size), minimum, maximum, zeros, 0, 0)


_DIRECT: Final = (np.dtype(np.float32), np.dtype(np.float64))
"""Dtypes that are compared as they are: in float32 twice as fast as in double precision."""


def _of_any(values: NDArray[np.float64]) -> Statistics:
    finite = np.isfinite(values)
    nans = int(np.isnan(values).sum())
    infs = values.size - int(finite.sum()) - nans
    negative = int(np.isneginf(values).sum()) if infs else 0
    good = values if finite.all() else values[finite]
    if not good.size:
        return Statistics(values.size, math.nan, math.nan, math.nan, 0, nans, infs, negative)
    largest = float(np.abs(good).max())
    # scaled, so that squares of huge or tiny values neither overflow nor vanish
    rms = largest * math.sqrt(float(np.mean((good / largest) ** 2))) if largest else 0.0
    zeros = int((good == 0).sum())
    low, high = float(good.min()), float(good.max())
    return Statistics(values.size, rms, low, high, zeros, nans, infs, negative)


def length(array: NDArray[Any]) -> float:
    """Return the Euclidean norm of an array, in its own precision but for the sum of many parts.

    >>> length(np.array([3.0, -4.0]))
    5.0
    """
    flat = (np.abs(array) if array.dtype.kind == "c" else array).ravel()
    if flat.dtype.kind != "f" or flat.dtype.itemsize < 4:
        flat = flat.astype(np.float64)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # whatever was set
        squares = _squares(flat)
        if flat.dtype.itemsize < 8 and not 1e-20 < squares < 1e30:
            squares = _squares(flat.astype(np.float64))
    return math.sqrt(squares)


def _squares(flat: NDArray[Any]) -> float:
    total = 0.0
    for at in range(0, flat.size, _DOT):
        part = flat[at : at + _DOT]
        total += float(np.dot(part, part))
    return total


def moved(array: NDArray[Any], copy: NDArray[Any]) -> float | None:
    """Return how far an array is from its copy, as :func:`length` measures it, and make the copy as
    the array is now; None where they differ in shape or dtype.

    >>> kept = np.zeros(2)
    >>> moved(np.array([3.0, -4.0]), kept), kept.tolist()
    (5.0, [3.0, -4.0])
    """
    if array.shape != copy.shape or array.dtype != copy.dtype:
        return None
    with np.errstate(all="ignore"):  # a difference of infinities; the user has no use for it
        if array.dtype not in _DIRECT or array.strides != copy.strides or not array.flags.forc:
            distance = length(array - copy)
            copy[...] = array
            return distance
        new, old = array.ravel("K"), copy.ravel("K")
        squares = 0.0
        for at in range(0, new.size, PART):
            part = new[at : at + PART]
            apart = np.subtract(part, old[at : at + PART], out=room(part.size, part.dtype))
            squares += length(apart) ** 2
            old[at : at + PART] = part
    return math.sqrt(squares)


def first_place(array: NDArray[Any], trouble: Trouble) -> tuple[int, ...]:
    """Return the index of the first element that is NaN, or infinite.

    >>> first_place(np.array([[1.0, 2.0], [np.inf, np.nan]]), "nan")
    (1, 1)
    """
    troubled = np.isnan(array) if trouble == "nan" else np.isinf(array)
    return tuple(int(place) for place in np.unravel_index(int(troubled.argmax()), array.shape))


def of_number(value: float) -> Statistics:
    """Describe one number, as most of a small graph's values are: thirty times faster without
    NumPy."""
    if math.isfinite(value):
        return Statistics(1, abs(value), value, value, int(value == 0), 0, 0)
    nan = math.isnan(value)
    return Statistics(1, math.nan, value, value, 0, int(nan), int(not nan), int(value < 0))


def format_number(value: float) -> str:
    """Return three significant digits, with a real minus sign; integers stay whole up to 10,000.

    >>> format_number(36.0), format_number(-12.5), format_number(0.00031234), format_number(2e9)
    ('36', '−12.5', '3.12e−4', '2e9')
    """
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else _MINUS + "inf"
    if value == 0:
        return "0"
    size = abs(value)
    if size == int(size) and size < 10_000:
        text = str(int(size))
    elif 1e-3 <= float(f"{size:.3g}") < 10_000:
        text = f"{size:#.3g}".rstrip("0").rstrip(".") if size < 1000 else f"{size:.0f}"
    else:
        mantissa, exponent = f"{size:.2e}".split("e")
        mantissa = mantissa.rstrip("0").rstrip(".")
        text = f"{mantissa}e{int(exponent)}".replace("-", _MINUS)
    return _MINUS + text if value < 0 else text


class Range(NamedTuple):
    """Between what numbers elements are.

    >>> str(Range(1.0, 3.0)), str(Range(-20.0, -20.0))
    ('between 1 and 3', 'all −20')
    """

    smallest: float
    largest: float

    @classmethod
    def of(cls, stats: Statistics) -> Range:
        """Return that of the elements which a summary is of."""
        return cls(stats.minimum, stats.maximum)

    def __str__(self) -> str:
        smallest, largest = map(format_number, self)
        return f"all {smallest}" if smallest == largest else f"between {smallest} and {largest}"


def format_element(value: float | np.generic) -> str:
    """Return one number in three digits too, but one that is no integer never as an integer: what
    makes the difference may be its last digit.

    >>> format_element(np.float32(1.0000001)), format_element(np.float32(0.12345))
    ('1.0000001', '0.123')
    >>> format_element(1.0001), format_element(1.0), format_number(1.0001)
    ('1.0001', '1', '1')
    """
    number = float(value)
    text = format_number(number)
    if not math.isfinite(number) or number == int(number) or "." in text or "e" in text:
        return text
    is_short = isinstance(value, np.floating)  # of few digits: those of its own dtype
    return str(value if is_short else number).replace("-", _MINUS)


def format_constant(value: complex | np.generic) -> str:
    """Return a number that stands in the program as itself: in three digits where these are it,
    else in all of its own, or marked as cut where there are more than nine.  One that a float32
    holds has the digits that tell it from other float32.

    >>> format_constant(1.00001), format_constant(0.9999999), format_constant(np.float32(0.1))
    ('1.00001', '0.9999999', '0.1')
    >>> format_constant(16777217), format_constant(-1e-05), format_constant(1e6)
    ('16777217', '−1e−5', '1e6')
    >>> format_constant(8**0.5), format_constant(-1 / 3), format_constant(1 + 1e-12)
    ('≈2.83', '≈−0.333', '≈1')
    >>> format_constant(1.5 - 2j), format_constant(True)
    ('(1.5 − 2j)', 'True')
    """
    if isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, (int, np.integer)):
        return str(int(value)).replace("-", _MINUS)
    if isinstance(value, (complex, np.complexfloating)):
        imaginary = f"{format_constant(value.imag)}j"
        return f"({plus(format_constant(value.real), imaginary)})" if value.real else imaginary
    number = float(value)
    texts = [format_number(number), *(_in_digits(number, digits) for digits in range(4, 10))]
    exact = next((text for text in texts if _reads_as(text, number)), None)
    if exact is not None:
        return exact
    # what is no integer does not read as one, if a few digits can tell
    return f"≈{next((text for text in texts[:4] if '.' in text), texts[0])}"


def _in_digits(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}".replace("-", _MINUS) if e else text.replace("-", _MINUS)


def _reads_as(text: str, value: float) -> bool:
    """Tell whether whoever reads the text has the number, as a float32 where that holds it."""
    read = float(text.replace(_MINUS, "-"))
    if read == value or value != value:
        return True
    with np.errstate(all="ignore"):  # whatever the program set
        single = np.float32(value)
        return bool(float(single) == value and np.float32(read) == single)


def plus(first: str, second: str) -> str:
    """Return the sum of two numbers as text, without two signs in a row.

    >>> plus("0", "36"), plus("0", "−12"), plus("x", "≈−0.333")
    ('0 + 36', '0 − 12', 'x − ≈0.333')
    """
    for about in ("", "≈"):
        if second.startswith(f"{about}{_MINUS}"):
            return f"{first} − {about}{second[len(about) + 1 :]}"
    return f"{first} + {second}"


def format_statistics(stats: Statistics) -> str:
    """Return the shortest useful text: the value of a scalar, else the root mean square.

    >>> format_statistics(statistics(np.array(2.5))), format_statistics(statistics(np.ones(4)))
    ('2.5', 'rms 1')
    >>> format_statistics(statistics(np.array([-np.inf, 1.0, -np.inf])))
    '−inf 2/3'
    """
    if count := stats.nans or stats.infs:
        what = "nan" if stats.nans else infinity(stats)
        return what if stats.size == 1 else f"{what} {count}/{stats.size}"
    if not stats.size:
        return "empty"
    scalar = stats.scalar
    return f"rms {format_number(stats.rms)}" if scalar is None else format_number(scalar)


def infinity(stats: Statistics) -> str:
    """Return what the infinite elements are, with their sign: inf, −inf, or ±inf."""
    if not stats.negative_infs:
        return "inf"
    return f"{_MINUS if stats.negative_infs == stats.infs else '±'}inf"


def format_bytes(count: int) -> str:
    """Return bytes as a person reads them.

    >>> format_bytes(8), format_bytes(4096), format_bytes(5_500_000), format_bytes(2**30 - 9)
    ('8 B', '4.0 KB', '5.2 MB', '1.0 GB')
    """
    size = float(count)
    for unit in ("B", "KB", "MB", "GB"):
        if size < 1023.95 or unit == "GB":  # or it would read 1024.0
            break
        size /= 1024
    return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"


def format_seconds(seconds: float) -> str:
    """Return a time as a person reads it.

    >>> format_seconds(3.52e-5), format_seconds(0.0123), format_seconds(2.0)
    ('35.2 µs', '12.3 ms', '2 s')
    """
    for unit, factor in (("µs", 1e6), ("ms", 1e3)):
        if seconds * factor < 999.5:
            return f"{format_number(seconds * factor)} {unit}"
    return f"{format_number(seconds)} s"


@functools.lru_cache(maxsize=4096)
def format_shape(shape: tuple[int, ...] | None) -> str:
    """Return the shape as PyTorch writes it in a list; a scalar is "[]", an unknown shape "".

    >>> format_shape((2, 3)), format_shape(()), format_shape(None)
    ('[2, 3]', '[]', '')
    """
    return "" if shape is None else str(list(shape))
