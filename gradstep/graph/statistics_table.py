"""Statistics of many tensors in columns: of a million gradients a picture shows a few hundred."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, cast, overload

import numpy as np
from numpy.typing import NDArray

from gradstep.graph.statistics import FEW, HUGE, TINY, Statistics, statistics, statistics_by_parts

Ints = NDArray[np.int64]
Numbers = NDArray[np.float64]

_UNKNOWN = -1  # in the place of a size
_NOTHING = (_UNKNOWN,) * len(Statistics._fields)


class StatisticsTable(Sequence[Statistics | None]):
    """Statistics of some tensors, None of one of which nothing is known.

    ``columns`` has a row for each field of :class:`Statistics`, and a column for each tensor.

    >>> table = StatisticsTable(2)
    >>> table[1] = Statistics(1, 5.0, -5.0, -5.0, 0, 0, 0)
    >>> table[0], table[1].minimum, table.unknown().tolist()
    (None, -5.0, [0])
    """

    def __init__(self, length: int, columns: Numbers | None = None) -> None:
        if columns is None:
            columns = np.full((len(Statistics._fields), length), _UNKNOWN, np.float64)
        self.columns: Numbers = columns

    @classmethod
    def of(cls, parts: Sequence[Statistics | None]) -> StatisticsTable:
        """Return a table of ``parts``."""
        if isinstance(parts, cls):
            return parts
        numbers = chain.from_iterable([_NOTHING if part is None else part for part in parts])
        rows = np.fromiter(numbers, np.float64, len(parts) * len(_NOTHING))
        return cls(0, rows.reshape(-1, len(_NOTHING)).T.copy())

    def __len__(self) -> int:
        return len(self.columns[0])

    def __setitem__(self, at: int, part: Statistics | None) -> None:
        self.columns[:, at] = _UNKNOWN if part is None else part

    @overload
    def __getitem__(self, at: int) -> Statistics | None: ...

    @overload
    def __getitem__(self, at: slice) -> list[Statistics | None]: ...

    def __getitem__(self, at: int | slice) -> Any:
        if isinstance(at, slice):
            return list(StatisticsTable(0, self.columns[:, at]))
        return _made(*self.columns[:, at].tolist())

    def __iter__(self) -> Iterator[Statistics | None]:
        return map(_made, *self.columns.tolist())

    def unknown(self) -> Ints:
        """Return the places of the tensors of which nothing is known."""
        return np.flatnonzero(self.columns[0] < 0)

    def troubled(self) -> Ints:
        """Return the places of the tensors with NaN or infinite elements."""
        *_, nans, infs, _ = self.columns
        return np.flatnonzero((nans > 0) | (infs > 0))

    def worst(self) -> Statistics | None:
        """Return those of the tensor in worst trouble, None where none is in any."""
        parts = (part for at in self.troubled().tolist() if (part := self[at]) is not None)
        return max(parts, key=_severity, default=None)

    def pooled(self) -> Statistics:
        """Summarize the elements of all tensors.

        >>> StatisticsTable.of([
        ...     Statistics(2, 3.5355339059327378, 3.0, 4.0, 0, 0, 0),
        ...     Statistics(2, 3.5355339059327378, -5.0, 0.0, 1, 0, 0),
        ... ]).pooled()[:5]
        (4, 3.5355339059327378, -5.0, 4.0, 1)
        """
        sizes, rms, low, high, zeros, nans, infs, negative = self.columns
        counts = sizes - nans - infs
        finite = counts > 0
        mean = largest = minimum = maximum = math.nan
        if finite.any():
            largest = mean = float(rms[finite].max())
            minimum, maximum = float(low[finite].min()), float(high[finite].max())
        if largest > 0:  # scaled, so that squares of huge or tiny values can be summed
            with np.errstate(under="ignore"):  # whatever the program set
                squares = (rms[finite] / largest) ** 2 * counts[finite]
            mean *= math.sqrt(float(squares.sum()) / float(counts[finite].sum()))
        totals = (int(counts.sum()) for counts in (sizes, zeros, nans, infs, negative))
        size, *others = totals
        return Statistics(size, mean, minimum, maximum, *others)


def _severity(part: Statistics) -> tuple[bool, int, int]:
    return bool(part.nans), part.nans, part.infs


def _made(
    size: float, rms: float, low: float, high: float,
    zeros: float, nans: float, infs: float, negative: float,
) -> Statistics | None:  # fmt: skip
    if size < 0:
        return None
    counts = int(zeros), int(nans), int(infs), int(negative)
    return Statistics(int(size), rms, low, high, *counts)


def statistics_of_parts(values: Numbers, sizes: Sequence[int]) -> StatisticsTable:
    """Describe parts of ``values``, which follow each other and have these ``sizes``, none of them
    0; None of one that is not finite, or whose squares cannot be summed.

    >>> statistics_of_parts(np.array([2.0, 3.0, -4.0]), [1, 2])[1].rms
    3.5355339059327378
    """
    lengths = np.array(sizes)
    starts = np.cumsum(lengths) - lengths
    table = StatisticsTable(len(lengths))
    with np.errstate(all="ignore"):  # whatever the program set
        low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
        zeros = np.add.reduceat(values == 0, starts, dtype=np.int64)
        rms = np.sqrt(np.add.reduceat(values * values, starts) / lengths)
        rms = np.where(lengths == 1, np.abs(low), rms)
        largest = np.maximum(-low, high)
        fine = (low > -HUGE) & (high < HUGE) & ((largest > TINY) | (zeros == lengths))
    none = np.zeros(len(lengths))
    known = np.where(fine, lengths, _UNKNOWN)
    table.columns[:] = known, rms, low, high, zeros, none, none, none
    return table


def statistics_of_each(
    arrays: Sequence[NDArray[np.generic] | np.generic | None],
) -> StatisticsTable:
    """Describe each of ``arrays`` as :func:`statistics` does; those of a few numbers together."""
    table = StatisticsTable(len(arrays))
    few = [
        at
        for at, array in enumerate(arrays)
        if array is not None and 0 < array.size <= FEW and array.dtype.kind in "fiub"
    ]
    if few:
        chosen: list[NDArray[Any]] = [arrays[at].ravel() for at in few]  # type: ignore[union-attr]
        with np.errstate(all="ignore"):  # as for larger ones
            values = np.concatenate(chosen).astype(np.float64)
        table.columns[:, few] = statistics_of_parts(
            values, [array.size for array in chosen]
        ).columns
    places: dict[object, list[int]] = {}  # by the memory: a view has the numbers of its base
    for at in table.unknown().tolist():
        array = arrays[at]
        if array is not None and array.size <= FEW:
            table[at] = statistics(array)
        elif array is not None:
            places.setdefault(_memory_of(array), []).append(at)
    chosen = [cast("NDArray[np.generic]", arrays[place[0]]) for place in places.values()]
    told = statistics_by_parts(chosen)
    for place, part in zip(places.values(), told, strict=True):
        for at in place:
            table[at] = part
    return table


def _memory_of(array: NDArray[np.generic] | np.generic) -> object:
    """Return what is equal for arrays of the same numbers in the same memory, as long as these
    live; itself of one with gaps."""
    if not isinstance(array, np.ndarray) or not array.flags.forc:
        return id(array)
    return array.__array_interface__["data"][0], array.size, array.dtype
